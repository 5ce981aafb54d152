# What this yields is the whole new truth. It runs only when the stock has materially changed.
{ buy: (.inputs.stock.stock | map_values(2 - .) | with_entries(select(.value > 0))) }
