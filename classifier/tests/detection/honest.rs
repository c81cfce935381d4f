//! Honest text yields no decoded findings.

use classifier::{Disguise, HiddenCounts, Unfolded};

const HONEST: &[&str] = &[
    "The kettle boils a litre in three minutes and switches itself off. I would buy it again.",
    "Please ignore the previous e-mail; the invoice had the wrong total. Here are the new instructions for payment.",
    "Versand innerhalb von zwei Werktagen. Größe und Farbe können Sie im nächsten Schritt wählen, die Straße fehlt noch.",
    "Donaudampfschifffahrtsgesellschaftskapitän und Rechtsschutzversicherungsgesellschaften stehen im Wörterbuch.",
    "Livraison gratuite dès 35 €. L'été, nos magasins sont ouverts jusqu'à 20 h ; où êtes-vous allés l'année dernière ?",
    "El niño compró un paraguas rojo. ¿Dónde está la tienda más cercana? ¡Qué rápido llegó el pedido!",
    "A frase mais longa não é a melhor; são precisas três opções para que o cliente escolha.",
    "Привет, мир! Все права защищены. Цена от 500 руб. за шт., а также скидки на USB-кабели и iPhone.",
    "Η παραγγελία σας έχει αποσταλεί. Θα τη λάβετε σε δύο ημέρες με την υπηρεσία DHL.",
    "価格は税込みです。送料無料。お届けまで二日から三日かかります。",
    "该商品支持七天无理由退货，满九十九元包邮。",
    "שלום עולם, המשלוח חינם בהזמנה מעל 200 ש״ח.",
    "السعر يشمل الضريبة والتوصيل مجاني للطلبات فوق ٢٠٠ ريال.",
    "Sevgili müşterimiz, siparişiniz yarın kapınızda olacak; ışık ve ısı ayrı satılır.",
    "Tilauksesi on matkalla ja saapuu perille kahden päivän kuluttua. Kiitos, että asioit meillä!",
    "Zamówienie zostało wysłane, a paczka dotrze do Łodzi w środę. Dziękujemy!",
    "Order 123e4567-e89b-12d3-a456-426614174000 was shipped on 2026-11-20 at 14:35:07.",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.bin",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 and md5 d41d8cd98f00b204e9800998ecf8427e, crc 0xCBF43926",
    "MAC 00:1A:2B:3C:4D:5E, IPv6 2001:0db8:85a3:0000:0000:8a2e:0370:7334, colour #ffcc00, rgb #1a2b3c",
    "https://shop.example/de/produkte/haushalt/wasserkocher-edelstahl-schwarz-1-7-liter/B08XYZ1234?ref=sr_1_3&qid=1700000000&sr=8-3",
    "https://maps.example/place/Stra%C3%9Fe+des+17.+Juni/@52.5145,13.3501,17z/data=!3m1!4b1!4m6!3m5!1s0x47a8515",
    "https://cdn.example/img/f_auto,q_80/v1699999999/catalog/AbCdEfGhIjKlMnOpQrStUvWxYz0123456789.jpg?sig=Zm9%2FaGVs%2Bbw%3D",
    "https://t.example/c/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpZCI6MTIzNDU2Nzg5MCwiZXhwIjoxNzAwMDAwMDAwfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "Model no. WK-3000/ED-BK, EAN 4006381333931, ISBN 978-3-16-148410-0, part A1B2-C3D4-E5F6-G7H8",
    "fn main() { let mut total = 0u64; for (i, x) in items.iter().enumerate() { total += x.price * i as u64; } }",
    "function getElementByIdOrThrow(documentRoot, elementIdentifier) { return documentRoot.querySelector('#' + elementIdentifier); }",
    "if (a && b || !c) return x ? y : z; // handleUserAuthenticationCallback",
    "com.example.internationalization.AbstractSingletonProxyFactoryBean, java.util.concurrent.ThreadPoolExecutor",
    "SELECT id, name FROM users WHERE created_at > '2026-01-01' AND status IN ('a','b') ORDER BY id DESC LIMIT 50;",
    "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
    "1 2 3 4 5 6 7 8 9 10 Next »",
    "Sizes: XS / S / M / L / XL / XXL. Rated 4.5 out of 5. Pros: + light + cheap. Cons: - loud.",
    "Tom &amp; Jerry &lt;3, 5 &times; 3 = 15, caf&eacute; &copy; 2026",
    "20 30 40 50 60 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89",
    "Tel. +49 30 901820, 50 % off, 100% cotton, 20%-30% less, a 5%af discount code",
    "U.S.A., e.g., i.e., J. R. R. Tolkien, Ph.D., p. m., a.m., Washington D. C.",
    "5 µm filters, 10 kΩ resistors, Δx = 3, πr², α-tocopherol, β-carotene, λ max, 3σ",
    "The word dictionary gives /dɪkʃənri/ and /ˈsɪŋɡəl/ for the sounds.",
    "👨\u{200D}👩\u{200D}👧 family ticket ❤\u{FE0F} 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} 1\u{FE0F}\u{20E3} 👍🏽 © ™ ☎\u{FE0E}",
    "Was it a car or a cat I saw? Never odd or even. No lemon, no melon. Live was I ere I saw evil.",
    "stressed desserts, drawer reward, diaper repaid, live evil, star rats, no on, saw was, top pot",
    "dGhl c2t5 aXM= are not words, nor are Xy7Qm2Lp9Rk4 and zQ8vN3bH6tY1wE5u.",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ======================== ------------------------ ________________________",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
];

#[test]
fn honest_text_yields_nothing() {
    for text in HONEST {
        let unfolded = Unfolded::new(text);
        assert!(unfolded.decoded().is_empty(), "{text}: {:?}", unfolded.decoded());
        assert_eq!(unfolded.counts(), HiddenCounts::default(), "{text}");
        assert!(unfolded.is_complete());
    }
}

#[test]
fn honest_texts_together_yield_nothing_in_any_order() {
    for start in 0..HONEST.len() {
        let (behind, before) = HONEST.split_at(start);
        for gap in [" ", "\n"] {
            let page = [before, behind].concat().join(gap);
            let unfolded = Unfolded::new(&page);
            assert!(unfolded.decoded().is_empty(), "{:?}", unfolded.decoded());
        }
    }
}

#[test]
fn random_identifiers_hardly_ever_yield_anything() {
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let alphabets: [(&[u8], usize); 3] = [
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22),
        (b"0123456789abcdef", 32),
        (b"abcdefghijklmnopqrstuvwxyz", 16),
    ];
    let mut findings = 0;
    for (alphabet, length) in alphabets {
        for _ in 0..10_000 {
            let word: String =
                (0..length).map(|_| char::from(alphabet[next(alphabet.len() as u64) as usize])).collect();
            findings += Unfolded::new(&word).decoded().len();
        }
    }
    assert!(findings <= 3, "{findings} in 30000");
}

#[test]
fn a_megabyte_of_random_base64_yields_hardly_anything() {
    let mut state = 7_u64;
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text: String = (0..1 << 20)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[(state >> 58) as usize])
        })
        .collect();
    let decoded = Unfolded::new(&text);
    let base64 = decoded.decoded().iter().filter(|decoded| decoded.disguise == Disguise::Base64).count();
    assert!(base64 <= 2, "{base64}");
}
