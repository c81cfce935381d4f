//! Rows of 64-bit floats: for checks of the mathematics, so that plain loops will do.

/// The product of a row with a vector, in eight sums.
pub(crate) fn dot(row: &[f64], vector: &[f64]) -> f64 {
    let length = row.len().min(vector.len());
    let (row, row_end) = row.get(..length).unwrap_or_default().as_chunks::<8>();
    let (vector, vector_end) = vector.get(..length).unwrap_or_default().as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (row, vector) in row.iter().zip(vector) {
        sums.iter_mut().zip(row).zip(vector).for_each(|((sum, a), b)| *sum += a * b);
    }
    let end: f64 = row_end.iter().zip(vector_end).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + end
}

/// `out += factor * row`.
pub(crate) fn add_row(row: &[f64], factor: f64, out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, value)| *out += factor * value);
}
