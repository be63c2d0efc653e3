//! The metrics over the text of modified files. They count substrings, mostly of Python, and parse no language.

use std::collections::HashSet;

use super::python::{called_names, count, defined_names, functions, is_valid_import, naming_styles, strip};
use super::rescaled;

/// A modified file: its path, and its text if a text was written.
type File<'a> = (&'a str, Option<&'a str>);

/// Functions without a definition.
const BUILT_IN: [&str; 8] = ["print", "len", "str", "int", "float", "list", "dict", "set"];

fn texts<'a>(files: &[File<'a>]) -> impl Iterator<Item = &'a str> {
    files.iter().filter_map(|(_, text)| *text)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
}

fn is_import(line: &str) -> bool {
    let line = strip(line);
    line.starts_with("import ") || line.starts_with("from ")
}

/// `part` / `all`, or 1 if `all` is 0.
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

fn mean_or(values: &[f64], otherwise: f64) -> f64 {
    if values.is_empty() { otherwise } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// M3: similar naming, imports and sizes.
pub(super) fn cross_file_consistency(files: &[File<'_>]) -> f64 {
    if files.len() < 2 {
        return 1.0;
    }
    let (mut snake, mut camel) = (0_usize, 0_usize);
    for (s, c) in texts(files).map(naming_styles) {
        snake += usize::from(s > c);
        camel += usize::from(c > s);
    }
    let naming = share(snake.max(camel), snake + camel);
    let python = files.iter().filter(|(path, _)| path.ends_with(".py")).filter_map(|(_, text)| *text);
    let (mut all, mut relative) = (0_usize, 0_usize);
    for line in python.flat_map(lines).filter(|line| is_import(line)) {
        all += 1;
        relative += usize::from(line.contains("from ."));
    }
    let imports = share(relative.max(all - relative), all);
    let sizes: Vec<f64> = texts(files).map(|text| lines(text).count() as f64).collect();
    (0.4 * naming + 0.3 * imports + 0.3 * alike(&sizes)).clamp(0.3, 1.0)
}

/// Similarity of sizes: 1 minus half their coefficient of variation, at least 0.3.
fn alike(sizes: &[f64]) -> f64 {
    if sizes.len() < 2 {
        return 1.0;
    }
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let squares: f64 = sizes.iter().map(|size| (size - mean).powi(2)).sum();
    let deviation = (squares / (sizes.len() as f64 - 1.0)).sqrt();
    (1.0 - deviation / mean / 2.0).max(0.3)
}

/// M4: form of imports, calls of functions that are defined in any file, and imports at the top.
pub(super) fn dependency_traversal(files: &[File<'_>]) -> f64 {
    if files.is_empty() {
        return 0.7;
    }
    let defined: HashSet<&str> = texts(files).flat_map(defined_names).collect();
    let (mut looks, mut calls, mut order) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts(files) {
        let (mut imports, mut valid, mut at_the_top) = (0, 0, 0);
        for (number, line) in lines(text).enumerate().filter(|(_, line)| is_import(line)) {
            imports += 1;
            valid += usize::from(is_valid_import(strip(line)));
            at_the_top += usize::from(number < 10);
        }
        let called = called_names(text);
        let known = called.iter().filter(|name| defined.contains(*name) || BUILT_IN.contains(name)).count();
        looks.push(share(valid, imports));
        calls.push(share(known, called.len()));
        order.push(share(at_the_top, imports));
    }
    (mean_or(&looks, 1.0) * 0.4 + mean_or(&calls, 1.0) * 0.35 + mean_or(&order, 1.0) * 0.25).clamp(0.3, 1.0)
}

/// M5: error handling and functions, lengths of lines and functions, words of the library of Python.
pub(super) fn solution_usability(files: &[File<'_>]) -> f64 {
    if files.is_empty() {
        return 0.7;
    }
    let (mut maintainable, mut readable, mut practical) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts(files) {
        let functions = functions(text);
        maintainable.push(maintainability(text, functions));
        readable.push(readability(text, functions));
        practical.push(practicality(text));
    }
    let mean = |values: &[f64]| mean_or(values, 0.7);
    (mean(&maintainable) * 0.4 + mean(&readable) * 0.35 + mean(&practical) * 0.25).clamp(0.3, 1.0)
}

fn maintainability(text: &str, functions: usize) -> f64 {
    let tries = count(text, "try:");
    let handled = if tries > 0 { (count(text, "except") as f64 / tries as f64).min(1.0) * 0.15 } else { 0.0 };
    let modular = match functions {
        0 => 0.0,
        1 | 2 => 0.05,
        _ => 0.15,
    };
    (0.7 + handled + modular).min(1.0)
}

fn readability(text: &str, functions: usize) -> f64 {
    let (mut code, mut long) = (0_usize, 0_usize);
    for line in lines(text) {
        let stripped = strip(line);
        if !stripped.is_empty() && !stripped.starts_with('#') {
            code += 1;
            // Code points. Counting stops when the result is known.
            long += usize::from(line.chars().nth(100).is_some());
        }
    }
    if code == 0 {
        return 1.0;
    }
    let short_lines = 1.0 - long as f64 / code as f64 * 0.5;
    let by_function = code as f64 / functions as f64;
    let short_functions = if functions == 0 {
        0.7
    } else if by_function < 10.0 {
        0.8
    } else if by_function <= 30.0 {
        1.0
    } else {
        (1.0 - (by_function - 30.0) / 100.0).max(0.4)
    };
    f64::midpoint(short_lines, short_functions)
}

fn practicality(text: &str) -> f64 {
    let modules = ["os", "sys", "json", "re", "pathlib", "typing", "dataclasses"];
    let named = modules.iter().filter(|module| text.contains(**module)).count();
    let base = 0.7 + (named as f64 * 0.05).min(0.15);
    let bad = count(text, "global ") + count(text, "eval(") + count(text, "exec(");
    let score = if bad > 0 { base * (1.0 - (bad as f64 * 0.1).min(0.3)) } else { base + 0.15 };
    score.min(1.0)
}

/// M6: heads of loops on consecutive lines, and words. The worst file counts.
pub(super) fn runtime_efficiency(files: &[File<'_>], error_rate: f64) -> f64 {
    if files.is_empty() {
        return 0.65;
    }
    let (mut nesting, mut patterns) = (1.0_f64, 1.0_f64);
    for text in texts(files) {
        nesting = nesting.min(match deepest_loops(text) {
            0..=2 => 1.0,
            3 => 0.7,
            _ => 0.4,
        });
        let good = ["set(", "dict", "heapq", "bisect"].iter().map(|word| count(text, word)).sum::<usize>();
        let twice = lines(text).filter(|line| line.match_indices("for").nth(1).is_some()).count();
        patterns = patterns.min(share(good, good + count(text, "in list") + twice));
    }
    rescaled(nesting * 0.4 + patterns * 0.3 + (1.0 - error_rate).max(0.0) * 0.3, 0.7, 1.0)
}

/// The maximum of a counter of loops: a head of a loop adds one, any other line that is not blank subtracts one.
fn deepest_loops(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for line in lines(text).map(strip) {
        if line.starts_with("for ") || line.starts_with("while ") {
            depth += 1;
            deepest = deepest.max(depth);
        } else if !line.is_empty() {
            depth = depth.saturating_sub(1);
        }
    }
    deepest
}

/// M7: opening brackets and other words by lines. For each part, the worst file counts.
pub(super) fn memory_efficiency(files: &[File<'_>]) -> f64 {
    if files.is_empty() {
        return 0.65;
    }
    let (mut space, mut patterns, mut resources) = (1.0_f64, 1.0_f64, 1.0_f64);
    for text in texts(files) {
        let total = |words: &[&str]| words.iter().map(|word| count(text, word)).sum::<usize>() as f64;
        let heavy = total(&[".readlines()", "[", "list("]);
        space = space.min((1.0 - heavy / lines(text).count() as f64 * 2.0).max(0.0));
        if heavy > 0.0 {
            let light = total(&["yield ", "itertools", "generator"]);
            patterns = patterns.min((0.5 + light / heavy * 0.5).min(1.0));
        }
        let opened = total(&["open("]);
        if opened > 0.0 {
            resources = resources.min((total(&["with "]) / opened).min(1.0));
        }
    }
    rescaled(space * 0.4 + patterns * 0.3 + resources * 0.3, 0.7, 1.0)
}
