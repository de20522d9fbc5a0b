//! Letters resampled to cells that are not the font's own: separable Lanczos-3 in single precision.

use std::f32::consts::PI;

use crate::canvas::Canvas;
use crate::palette::PALETTE;

/// A picture of red, green and blue.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) width_px: usize,
    pub(crate) height_px: usize,
    pub(crate) rgb: Vec<u8>,
    /// Whether any ink has a hue.
    pub(crate) has_hues: bool,
}

/// Red, green and blue of a canvas.
pub(crate) fn rgb_of(canvas: &Canvas) -> Vec<u8> {
    let colours = |y| canvas.row(y).iter().flat_map(|colour| PALETTE[usize::from(*colour)]);
    (0..canvas.height_px).flat_map(colours).collect()
}

/// Resamples a canvas to `target` and puts it at the left of a white picture of `width_px`.
pub(crate) fn resample(canvas: &Canvas, target: (usize, usize), width_px: usize) -> Picture {
    let rgb: Vec<f32> = rgb_of(canvas).into_iter().map(f32::from).collect();
    let columns = Kernel::new(canvas.width_px, target.0);
    let lines = Kernel::new(canvas.height_px, target.1);
    let narrow = across(&rgb, canvas.width_px, canvas.height_px, &columns);
    let small = down(&narrow, target.0, &lines);
    let mut out = vec![255; width_px * target.1 * 3];
    for (y, line) in small.chunks_exact(target.0 * 3).enumerate() {
        for (to, from) in out[y * width_px * 3..].iter_mut().zip(line) {
            *to = from.round().clamp(0.0, 255.0) as u8;
        }
    }
    let is_hue = |colour: &u8| (1..=6).contains(colour);
    let has_hues = (0..canvas.height_px).any(|y| canvas.row(y).iter().any(is_hue));
    Picture { width_px, height_px: target.1, rgb: out, has_hues }
}

/// For each target pixel of one axis, its first source pixel and the weights of the pixels from there on.
struct Kernel(Vec<(usize, Vec<f32>)>);

impl Kernel {
    fn new(source: usize, target: usize) -> Self {
        let scale = source as f32 / target as f32;
        let filter_scale = scale.max(1.0);
        let taps = |i: usize| {
            let center = (i as f32 + 0.5) * scale;
            let begin = (center - 3.0 * filter_scale).trunc().max(0.0) as usize;
            let end = ((center + 3.0 * filter_scale).ceil() as usize).min(source);
            let weight = |x: usize| lanczos((x as f32 + 0.5 - center) / filter_scale);
            let weights: Vec<f32> = (begin..end).map(weight).collect();
            let sum: f32 = weights.iter().sum();
            (begin, weights.iter().map(|weight| weight / sum).collect())
        };
        Self((0..target).map(taps).collect())
    }
}

fn lanczos(x: f32) -> f32 {
    if x.abs() < 1e-6 {
        return 1.0;
    }
    if x.abs() >= 3.0 {
        return 0.0;
    }
    let sinc = |angle: f32| angle.sin() / angle;
    sinc(PI * x) * sinc(PI * x / 3.0)
}

/// `a * b + c`, rounded once. The product is exact in double precision; without it, processors that are not asked for their fused
/// instruction call a function for each of some hundred million sums.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    (f64::from(a) * f64::from(b) + f64::from(c)) as f32
}

fn across(rgb: &[f32], width: usize, height: usize, kernel: &Kernel) -> Vec<f32> {
    let mut out = Vec::with_capacity(kernel.0.len() * height * 3);
    for line in rgb.chunks_exact(width * 3) {
        for (begin, weights) in &kernel.0 {
            let mut sum = [0.0_f32; 3];
            for (pixel, weight) in line[begin * 3..].chunks_exact(3).zip(weights) {
                for channel in 0..3 {
                    sum[channel] = fused(pixel[channel], *weight, sum[channel]);
                }
            }
            out.extend_from_slice(&sum);
        }
    }
    out
}

fn down(rgb: &[f32], width: usize, kernel: &Kernel) -> Vec<f32> {
    let line_length = width * 3;
    let mut out = vec![0.0_f32; kernel.0.len() * line_length];
    for (line, (begin, weights)) in out.chunks_exact_mut(line_length).zip(&kernel.0) {
        for (source, weight) in rgb[begin * line_length..].chunks_exact(line_length).zip(weights) {
            for (sum, value) in line.iter_mut().zip(source) {
                *sum = fused(*value, *weight, *sum);
            }
        }
    }
    out
}
