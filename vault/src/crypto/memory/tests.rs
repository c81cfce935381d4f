use super::*;

#[test]
fn a_buffer_has_its_length_and_is_zero() {
    for length in [0, 1, 31, 32, 4095, 4096, 4097, 100_000] {
        let mut buffer = Buffer::new(length);
        assert_eq!(buffer.bytes(), vec![0; length]);
        buffer.bytes_mut().fill(7);
        assert_eq!(buffer.bytes(), vec![7; length]);
    }
}

#[test]
fn a_growing_buffer_keeps_its_bytes() {
    for room in [0, 1, 256, 300] {
        let mut growing = GrowingBuffer::with_room(room);
        let bytes: Vec<u8> = (0..3000_u32).map(|number| (number % 251) as u8).collect();
        for (count, byte) in bytes.iter().enumerate() {
            assert_eq!(growing.bytes(), &bytes[..count]);
            growing.push(*byte);
        }
        assert_eq!(growing.bytes(), bytes);
    }
}

#[test]
fn protection_of_two_buffers_is_what_both_have() {
    let some = [(true, true), (true, false), (false, true), (false, false)]
        .map(|(locked, undumped)| Protection { locked, undumped });
    for one in some {
        assert_eq!(one.and(Protection::FULL), one);
        assert_eq!(one.and(Protection::NONE), Protection::NONE);
        assert_eq!(one.and(one), one);
    }
}

/// Reads the flags of the mapping from the system: locked, not dumped, not forked.
#[cfg(target_os = "linux")]
#[test]
fn the_system_confirms_what_a_buffer_claims() {
    let mut buffer = Buffer::new(32);
    buffer.bytes_mut().fill(1);
    let Pages::Mapped(map) = &buffer.pages else { panic!("no mapping") };
    let address = map.as_ptr() as usize;
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let holds = |line: &&str| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let number = |hex: &str| usize::from_str_radix(hex, 16).ok();
        range.and_then(|(from, to)| Some((number(from)?..number(to)?).contains(&address))).unwrap_or(false)
    };
    let flags = smaps.lines().skip_while(|line| !holds(line)).find(|line| line.starts_with("VmFlags"));
    let has = |flag: &str| flags.unwrap().split(' ').any(|found| found == flag);
    assert!(buffer.protection().undumped);
    assert_eq!(buffer.protection().locked, has("lo"));
    assert!(has("dd") && has("dc"));
}

#[test]
fn a_pool_reuses_wiped_buffers_and_keeps_few() {
    let pool = Pool::new(100);
    let mut lent: Vec<Pooled> = (0..MOST_SPARE + 3).map(|_| pool.take()).collect();
    for buffer in &mut lent {
        assert!(buffer.bytes_mut(101).is_none());
        buffer.bytes_mut(60).unwrap().fill(1);
        buffer.bytes_mut(40).unwrap().fill(2);
    }
    drop(lent);
    assert_eq!(pool.spare.lock().unwrap().len(), MOST_SPARE);
    for buffer in pool.spare.lock().unwrap().iter() {
        assert_eq!(buffer.bytes(), [0; 100]);
    }
    let mut late = pool.take();
    drop(pool);
    late.bytes_mut(1).unwrap().fill(1);
    assert_eq!(late.bytes(1), Some([1].as_slice()));
}
