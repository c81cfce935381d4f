//! Serves the shop in UCP's first form over plain HTTP on loopback, for a conformance suite that somebody else wrote.
//!
//! `cargo run -p ucp-shop --example serve -- PORT HANDLER TOKEN ID=PRICE=STOCK...` sells these products at prices in cents, without taxes, for this
//! token of this payment handler, which is test money. It is for tests by hand: it answers one call at a time, and knows no TLS.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

use checkout_protocols::{KeySet, SigningKey};
use ucp_shop::{Method, Product, Request, Shop, Terms};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(port), Some(handler), Some(token)) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("the arguments are PORT HANDLER TOKEN ID=PRICE=STOCK...".into());
    };
    let port: u16 = port.parse()?;
    let product = |text: String| {
        let mut parts = text.split('=').map(str::to_owned);
        let (id, price, stock) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Product { title: id.clone(), id, price, stock })
    };
    let products: Option<Vec<Product>> = arguments.map(product).collect();
    let products = products.ok_or("a product is written as ID=PRICE=STOCK")?;
    let origin = format!("http://localhost:{port}").parse()?;
    let shop = Shop::new(origin, SigningKey::from_bytes(&[3; 32])?, KeySet::default(), products);
    let shop = shop.with_terms(Terms { tax: 0, ..Terms::default() });
    let mut shop = shop.in_first_form().paid_by(&handler, &token);
    let mut number = 0_u128;
    for connection in TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.incoming() {
        if let Err(error) = serve(&mut shop, &mut number, connection?) {
            eprintln!("a call that cannot be read: {error}");
        }
    }
    Ok(())
}

/// Answers the one call of a connection.
fn serve(shop: &mut Shop, number: &mut u128, connection: TcpStream) -> Result<(), Box<dyn Error>> {
    let mut reader = BufReader::new(connection);
    let (mut line, mut headers) = (String::new(), Vec::new());
    reader.read_line(&mut line)?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.map_or(Ok(0), |(_, value)| value.parse())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let method = match method {
        "POST" => Method::Post,
        "PUT" => Method::Put,
        _ => Method::Get,
    };
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut entropy = || {
        *number += 1;
        number.to_be_bytes()
    };
    let answer = shop.answer(&Request { method, path, headers: &headers, body: &body }, now, &mut entropy);
    println!("{line:?} {}", answer.status);
    let mut connection = reader.into_inner();
    write!(
        connection,
        "HTTP/1.1 {} -\r\nConnection: close\r\nContent-Length: {}\r\n",
        answer.status,
        answer.body.len()
    )?;
    for (name, value) in &answer.headers {
        write!(connection, "{name}: {value}\r\n")?;
    }
    connection.write_all(b"\r\n")?;
    connection.write_all(&answer.body)?;
    Ok(())
}
