//! Keys in and out.

use prose_ledger::{KeyError, KeyRing, Signer};

/// Made with `openssl genpkey -algorithm ed25519`.
const OPENSSL: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";

#[test]
fn a_private_key_round_trips_in_the_form_openssl_writes() {
    let signer = Signer::from_pem(OPENSSL).unwrap();
    assert_eq!(signer.to_pem().unwrap(), OPENSSL);
    assert_eq!(
        signer.key_id(),
        Some("ed25519:19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1")
    );
    assert!(!format!("{signer:?}").contains("d4ee72"), "no secret in logs");
    assert_eq!(Signer::unsigned("no key").to_pem(), None);
    for bad in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
        assert_eq!(Signer::from_pem(bad).unwrap_err().code(), "key_pem");
    }
}

#[test]
fn weak_and_malformed_public_keys_are_refused() {
    let weak = format!("ed25519:01{}", "00".repeat(31));
    assert_eq!(KeyRing::new().add(&weak), Err(KeyError::Weak));
    let good = Signer::ed25519(&[1; 32]).key_id().unwrap().to_owned();
    let ring = KeyRing::of([good.as_str()]).unwrap();
    assert_eq!(ring.ids().collect::<Vec<_>>(), [good.as_str()]);
    for bad in ["", "ed25519:", "ed25519:00", &good.to_uppercase(), &good[8..]] {
        assert_eq!(KeyRing::new().add(bad), Err(KeyError::Malformed), "{bad}");
    }
}
