//! Which conditions code can decide.

use prose_truth::check_conditions;

#[test]
fn what_code_can_decide() {
    let good = [
        "self.competitors.all(c, size(c.sources) > 0)",
        "self.total >= prior.total",
        "has(self.title) && self.title != ''",
        "self.names.exists_one(n, n == 'x')",
        "inputs.a.b.startsWith('x')",
        "self.kind in ['a', 'b']",
        "!self.ready",
    ];
    for (source, result) in good.iter().zip(check_conditions(&good)) {
        assert_eq!(result, Ok(()), "{source}");
    }
}

#[test]
fn what_code_cannot_decide() {
    let nested = format!("{}self.a{} == 1", "(".repeat(3000), ")".repeat(3000));
    let chained = format!("self{} == 1", ".a".repeat(2500));
    let bad = [
        "self.a ==",
        "other.a > 1",
        "self.a.frob()",
        "self.a + 1",
        "self.a",
        "self.a[0]",
        "self.all(x)",
        "has()",
        "self.items.map(x, x)",
        "self.items.all(x, y > 1)",
        &nested,
        &chained,
    ];
    for (source, result) in bad.iter().zip(check_conditions(&bad)) {
        assert!(result.is_err(), "{}", &source[..source.len().min(40)]);
    }
    assert!(check_conditions(&[]).is_empty());
}
