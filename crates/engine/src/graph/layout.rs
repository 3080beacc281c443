//! The layout of a graph: a pure function from box sizes and arrows to positions of boxes and
//! routes of arrows.
//!
//! The algorithm is layered graph drawing. Arrows run from left to right, so each box is in a
//! column right of all boxes that point at it. Within the columns boxes are ordered to reduce
//! crossings, and then moved towards their neighbours. Connected components are laid out separately
//! and packed in rows. Boxes without arrows share a grid.
//!
//! ```text
//! arrows ── parts ──> ranks ──> stops ──> order ──> heights ──> packing
//! ```
//!
//! Work is linear in the number of boxes and arrows: the number of sweeps is fixed, and the number
//! of stops is limited.
//!
//! Not here: text, colours, files (`svg`).

use std::collections::HashMap;

/// The size of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Size {
    /// The width.
    pub(crate) width: f64,
    /// The height.
    pub(crate) height: f64,
}

/// A position relative to the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// The distance to the right.
    pub(crate) x: f64,
    /// The distance downwards.
    pub(crate) y: f64,
}

/// The positions of boxes and arrows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// The size of the drawing.
    pub(crate) size: Size,
    /// The upper left corner of each box, in the order of the sizes.
    pub(crate) boxes: Vec<Point>,
    /// The points of each arrow, in the order of the arrows. The segments from the first point to
    /// the second, from the third to the fourth, ... are horizontal and within a column. An arrow
    /// leaves its first point to the right and reaches its last point from the left.
    pub(crate) routes: Vec<Vec<Point>>,
}

/// The distance between two columns.
const COLUMN_GAP: f64 = 72.0;
/// The distance between two boxes of a column, and between parts.
const GAP: f64 = 18.0;
/// The distance between an arrow that passes through a column and the items of the column.
const LANE_GAP: f64 = 10.0;
/// The number of sweeps that improve the order in the columns, and of sweeps that improve the
/// heights.
const SWEEPS: usize = 12;
/// The target ratio of width to height when parts are packed.
const ASPECT: f64 = 1.5;

/// Lays out boxes and arrows between them, each from one box to another by their positions.
///
/// The same arguments give the same layout. Arrows may form cycles: the arrows that close a cycle
/// run backwards.
pub(crate) fn layout(sizes: &[Size], arrows: &[(usize, usize)]) -> Layout {
    let mut boxes = vec![Point { x: 0.0, y: 0.0 }; sizes.len()];
    let mut routes = vec![Vec::new(); arrows.len()];
    let (parts, alone) = connected_components(sizes.len(), arrows);
    let mut drawn: Vec<PlacedComponent> = parts
        .iter()
        .map(|part| layout_component(part, sizes, arrows))
        .collect();
    if !alone.is_empty() {
        drawn.push(grid(&alone, sizes));
    }
    let (places, size) = pack(&drawn);
    for (part, at) in drawn.iter().zip(places) {
        let moved = |point: Point| Point {
            x: point.x + at.x,
            y: point.y + at.y,
        };
        for (node, point) in &part.boxes {
            boxes[*node] = moved(*point);
        }
        for (arrow, points) in &part.routes {
            routes[*arrow] = points.iter().copied().map(moved).collect();
        }
    }
    Layout {
        size,
        boxes,
        routes,
    }
}

/// A connected component: boxes and the arrows between them.
struct Component {
    nodes: Vec<usize>,
    arrows: Vec<usize>,
}

/// A part with positions relative to its own corner.
struct PlacedComponent {
    size: Size,
    boxes: Vec<(usize, Point)>,
    routes: Vec<(usize, Vec<Point>)>,
}

/// Returns the connected components in the order of their first boxes, and the boxes without
/// arrows.
fn connected_components(count: usize, arrows: &[(usize, usize)]) -> (Vec<Component>, Vec<usize>) {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in arrows {
        near[*from].push(*to);
        near[*to].push(*from);
    }
    let mut part_of = vec![usize::MAX; count];
    let mut parts: Vec<Component> = Vec::new();
    let mut isolated = Vec::new();
    for start in 0..count {
        if near[start].is_empty() {
            isolated.push(start);
            continue;
        }
        if part_of[start] != usize::MAX {
            continue;
        }
        let mut nodes = Vec::new();
        let mut open = vec![start];
        part_of[start] = parts.len();
        while let Some(node) = open.pop() {
            nodes.push(node);
            for next in &near[node] {
                if part_of[*next] == usize::MAX {
                    part_of[*next] = parts.len();
                    open.push(*next);
                }
            }
        }
        nodes.sort_unstable();
        parts.push(Component {
            nodes,
            arrows: Vec::new(),
        });
    }
    for (at, (from, _)) in arrows.iter().enumerate() {
        parts[part_of[*from]].arrows.push(at);
    }
    (parts, isolated)
}

/// An item of a column: a box, or a stop, which is the point where arrows to one box cross the
/// column.
#[derive(Clone, Copy)]
struct Item {
    rank: usize,
    /// The box; for a stop, the box that its arrows lead to.
    node: usize,
    is_stop: bool,
    height: f64,
}

/// A part during its layout.
struct Layered {
    items: Vec<Item>,
    /// The items of each column from top to bottom.
    columns: Vec<Vec<usize>>,
    /// The neighbours of each item in the next column; `left` has those in the previous column.
    right: Vec<Vec<usize>>,
    left: Vec<Vec<usize>>,
}

fn layout_component(
    part: &Component,
    sizes: &[Size],
    arrows: &[(usize, usize)],
) -> PlacedComponent {
    let local: HashMap<usize, usize> = part
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (*node, at))
        .collect();
    let joined: Vec<(usize, usize)> = part
        .arrows
        .iter()
        .map(|arrow| (local[&arrows[*arrow].0], local[&arrows[*arrow].1]))
        .collect();
    let ranks = ranks(part.nodes.len(), &joined);
    let heights: Vec<f64> = part.nodes.iter().map(|node| sizes[*node].height).collect();
    let (mut layered, passes) = Layered::new(&heights, &ranks, &joined);
    layered.order();
    let centers = layered.heights();

    let mut columns: Vec<(f64, f64)> = Vec::with_capacity(layered.columns.len());
    let mut x = 0.0;
    for column in &layered.columns {
        let boxes = column
            .iter()
            .map(|item| &layered.items[*item])
            .filter(|item| !item.is_stop);
        let width = boxes
            .map(|item| sizes[part.nodes[item.node]].width)
            .fold(0.0, f64::max);
        columns.push((x, x + width));
        x += width + COLUMN_GAP;
    }
    let top = layered
        .items
        .iter()
        .zip(&centers)
        .map(|(item, y)| y - item.height / 2.0)
        .fold(f64::MAX, f64::min);
    let end = layered
        .items
        .iter()
        .zip(&centers)
        .map(|(item, y)| y + item.height / 2.0)
        .fold(f64::MIN, f64::max);
    let center = |item: usize| centers[item] - top;
    let place = |node: usize| Point {
        x: columns[ranks[node]].0,
        y: center(node) - heights[node] / 2.0,
    };
    let boxes = part
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (*node, place(at)))
        .collect();
    let routes = part.arrows.iter().zip(joined.iter().zip(passes));
    let routes = routes.map(|(arrow, ((from, to), stops))| {
        let start = place(*from).x + sizes[part.nodes[*from]].width;
        // Stay horizontal up to the edge of the widest box in the column. An earlier bend would run
        // behind that box.
        let mut points = [start, columns[ranks[*from]].1]
            .map(|x| Point {
                x,
                y: center(*from),
            })
            .to_vec();
        for stop in stops {
            let (left, right) = columns[layered.items[stop].rank];
            points.extend([left, right].map(|x| Point { x, y: center(stop) }));
        }
        points.push(Point {
            x: place(*to).x,
            y: center(*to),
        });
        (*arrow, points)
    });
    let routes = routes.collect();
    PlacedComponent {
        size: Size {
            width: (x - COLUMN_GAP).max(0.0),
            height: end - top,
        },
        boxes,
        routes,
    }
}

/// Returns the column of each box: as far left as its incoming arrows allow. A box without incoming
/// arrows is directly before the boxes that it points at.
fn ranks(count: usize, joined: &[(usize, usize)]) -> Vec<usize> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits = vec![0_usize; count];
    for (from, to) in joined.iter().filter(|(from, to)| from != to) {
        out[*from].push(*to);
        waits[*to] += 1;
    }
    let first: Vec<bool> = waits.iter().map(|waits| *waits == 0).collect();
    let mut ranks = vec![0_usize; count];
    let mut placed = vec![false; count];
    let mut ready: Vec<usize> = (0..count).rev().filter(|node| first[*node]).collect();
    let mut next_forced = 0;
    loop {
        let Some(node) = ready.pop() else {
            // All remaining boxes are on cycles or behind them: break the cycle at the first box.
            let Some(forced) = (next_forced..count).find(|node| !placed[*node]) else {
                break;
            };
            next_forced = forced + 1;
            ready.push(forced);
            continue;
        };
        if std::mem::replace(&mut placed[node], true) {
            continue;
        }
        for to in &out[node] {
            if placed[*to] {
                continue;
            }
            ranks[*to] = ranks[*to].max(ranks[node] + 1);
            waits[*to] -= 1;
            if waits[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    for node in (0..count).filter(|node| first[*node]) {
        if let Some(nearest) = out[node].iter().map(|to| ranks[*to]).min() {
            ranks[node] = nearest.saturating_sub(1);
        }
    }
    ranks
}

impl Layered {
    /// Puts boxes and stops into columns, and returns the stops of each arrow. Arrows to one box
    /// share their stops. The number of stops is limited to a few for each box and arrow; arrows
    /// beyond the limit run straight.
    fn new(
        heights: &[f64],
        ranks: &[usize],
        joined: &[(usize, usize)],
    ) -> (Layered, Vec<Vec<usize>>) {
        let mut items: Vec<Item> = heights
            .iter()
            .zip(ranks)
            .enumerate()
            .map(|(node, (height, rank))| Item {
                rank: *rank,
                node,
                is_stop: false,
                height: *height,
            })
            .collect();
        let most = 4 * (heights.len() + joined.len());
        let length = |arrow: usize| ranks[joined[arrow].1].saturating_sub(ranks[joined[arrow].0]);
        let mut by_length: Vec<usize> = (0..joined.len()).collect();
        by_length.sort_by_key(|arrow| length(*arrow));
        let mut stops: HashMap<(usize, usize), usize> = HashMap::new();
        let mut passes = vec![Vec::new(); joined.len()];
        let mut steps = 0;
        for arrow in by_length {
            let (from, to) = joined[arrow];
            let between = length(arrow).saturating_sub(1);
            steps += between;
            if between == 0 || steps > most {
                continue;
            }
            for rank in ranks[from] + 1..ranks[to] {
                let stop = *stops.entry((to, rank)).or_insert_with(|| {
                    items.push(Item {
                        rank,
                        node: to,
                        is_stop: true,
                        height: 0.0,
                    });
                    items.len() - 1
                });
                passes[arrow].push(stop);
            }
        }
        let mut columns =
            vec![Vec::new(); items.iter().map(|item| item.rank + 1).max().unwrap_or(0)];
        for (at, item) in items.iter().enumerate() {
            columns[item.rank].push(at);
        }
        let mut layered = Layered {
            columns,
            right: vec![Vec::new(); items.len()],
            left: vec![Vec::new(); items.len()],
            items,
        };
        let mut known = std::collections::HashSet::new();
        for ((from, to), stops) in joined.iter().zip(&passes) {
            let mut at = *from;
            for next in stops.iter().chain([to]) {
                let neighbours = layered.items[at].rank + 1 == layered.items[*next].rank;
                if neighbours && known.insert((at, *next)) {
                    layered.right[at].push(*next);
                    layered.left[*next].push(at);
                }
                at = *next;
            }
        }
        (layered, passes)
    }

    /// Orders each column by the mean position of the neighbours of its items, from left to right
    /// and back. Keeps the order with the fewest crossings.
    fn order(&mut self) {
        let mut places = vec![0.0; self.items.len()];
        let mut best = (self.crossings(&mut places), self.columns.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            let forward = sweep % 2 == 0;
            let count = self.columns.len();
            for step in 1..count {
                let (at, joined) = if forward {
                    (step, &self.left)
                } else {
                    (count - 1 - step, &self.right)
                };
                let before = if forward { at - 1 } else { at + 1 };
                set_places(&self.columns[before], &mut places);
                set_places(&self.columns[at], &mut places);
                let mut keyed: Vec<(f64, usize)> = self.columns[at]
                    .iter()
                    .map(|item| {
                        (
                            mean(&joined[*item], &places).unwrap_or(places[*item]),
                            *item,
                        )
                    })
                    .collect();
                keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
                self.columns[at] = keyed.into_iter().map(|(_, item)| item).collect();
            }
            let crossings = self.crossings(&mut places);
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
    }

    /// Counts the crossings between neighbouring columns: inversions, counted with a binary indexed
    /// tree.
    fn crossings(&self, places: &mut [f64]) -> u64 {
        let mut crossings = 0;
        for pair in self.columns.windows(2) {
            let [here, next] = pair else { continue };
            set_places(next, places);
            let mut tree = vec![0_u64; next.len() + 1];
            let mut seen = 0;
            for item in here {
                let mut ends: Vec<usize> = self.right[*item]
                    .iter()
                    .map(|to| places[*to] as usize)
                    .collect();
                ends.sort_unstable();
                for end in &ends {
                    let mut not_after = 0;
                    let mut at = end + 1;
                    while at > 0 {
                        not_after += tree[at];
                        at &= at - 1;
                    }
                    crossings += seen - not_after;
                }
                for end in ends {
                    seen += 1;
                    let mut at = end + 1;
                    while at < tree.len() {
                        tree[at] += 1;
                        at += at & at.wrapping_neg();
                    }
                }
            }
        }
        crossings
    }

    /// Returns the vertical centre of each item: near its neighbours, with the minimum distance
    /// between items of a column.
    fn heights(&self) -> Vec<f64> {
        let mut centers = vec![0.0; self.items.len()];
        for column in &self.columns {
            let offsets = self.offsets(column);
            for (item, offset) in column.iter().zip(offsets) {
                centers[*item] = offset;
            }
        }
        for sweep in 0..SWEEPS {
            let last = sweep + 2 >= SWEEPS;
            let count = self.columns.len();
            for step in 0..count {
                let at = if sweep % 2 == 0 {
                    step
                } else {
                    count - 1 - step
                };
                let column = &self.columns[at];
                let wanted: Vec<f64> = column
                    .iter()
                    .map(|item| {
                        let left = mean(&self.left[*item], &centers);
                        let right = mean(&self.right[*item], &centers);
                        let (near, far) = if sweep % 2 == 0 {
                            (left, right)
                        } else {
                            (right, left)
                        };
                        match (near, far) {
                            (Some(near), Some(far)) if last => f64::midpoint(near, far),
                            (Some(one), _) | (None, Some(one)) => one,
                            (None, None) => centers[*item],
                        }
                    })
                    .collect();
                for (item, y) in column.iter().zip(spread(&wanted, &self.offsets(column))) {
                    centers[*item] = y;
                }
            }
        }
        centers
    }

    /// Returns the centres of a column's items at their minimum distances.
    fn offsets(&self, column: &[usize]) -> Vec<f64> {
        let mut offsets = Vec::with_capacity(column.len());
        let mut y = 0.0;
        let mut before: Option<&Item> = None;
        for item in column.iter().map(|item| &self.items[*item]) {
            if let Some(before) = before {
                let gap = if before.is_stop || item.is_stop {
                    LANE_GAP
                } else {
                    GAP
                };
                y += before.height / 2.0 + gap + item.height / 2.0;
            }
            offsets.push(y);
            before = Some(item);
        }
        offsets
    }
}

fn set_places(column: &[usize], places: &mut [f64]) {
    for (at, item) in column.iter().enumerate() {
        places[*item] = at as f64;
    }
}

fn mean(items: &[usize], of: &[f64]) -> Option<f64> {
    (!items.is_empty())
        .then(|| items.iter().map(|item| of[*item]).sum::<f64>() / items.len() as f64)
}

/// Returns the positions nearest to the wanted ones (by least squares) that keep the order and the
/// distances of `offsets`. Neighbours that would be too close are pooled and moved together.
fn spread(wanted: &[f64], offsets: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(wanted.len());
    for (wanted, offset) in wanted.iter().zip(offsets) {
        let mut pool = (wanted - offset, 1);
        while let Some(before) = pools.pop_if(|before| before.0 > pool.0) {
            let count = before.1 + pool.1;
            pool = (
                (before.0 * before.1 as f64 + pool.0 * pool.1 as f64) / count as f64,
                count,
            );
        }
        pools.push(pool);
    }
    let shifts = pools
        .into_iter()
        .flat_map(|(shift, count)| std::iter::repeat_n(shift, count));
    shifts
        .zip(offsets)
        .map(|(shift, offset)| shift + offset)
        .collect()
}

/// Arranges boxes without arrows in rows.
fn grid(nodes: &[usize], sizes: &[Size]) -> PlacedComponent {
    let width = nodes
        .iter()
        .map(|node| sizes[*node].width)
        .fold(0.0, f64::max)
        + GAP;
    let height = nodes
        .iter()
        .map(|node| sizes[*node].height)
        .fold(0.0, f64::max)
        + GAP;
    let columns = ((nodes.len() as f64 * height * ASPECT / width)
        .sqrt()
        .round() as usize)
        .clamp(1, nodes.len());
    let place = |at: usize| Point {
        x: (at % columns) as f64 * width,
        y: (at / columns) as f64 * height,
    };
    let boxes = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (*node, place(at)))
        .collect();
    let rows = nodes.len().div_ceil(columns);
    let size = Size {
        width: columns as f64 * width - GAP,
        height: rows as f64 * height - GAP,
    };
    PlacedComponent {
        size,
        boxes,
        routes: Vec::new(),
    }
}

/// Places parts in rows, in their order.
fn pack(parts: &[PlacedComponent]) -> (Vec<Point>, Size) {
    let area: f64 = parts
        .iter()
        .map(|part| (part.size.width + GAP) * (part.size.height + GAP))
        .sum();
    let widest = parts.iter().map(|part| part.size.width).fold(0.0, f64::max);
    let most = widest.max((area * ASPECT).sqrt());
    let mut places = Vec::with_capacity(parts.len());
    let mut at = Point { x: 0.0, y: 0.0 };
    let mut row = 0.0_f64;
    let mut size = Size {
        width: 0.0,
        height: 0.0,
    };
    for part in parts {
        if at.x > 0.0 && at.x + part.size.width > most {
            at = Point {
                x: 0.0,
                y: at.y + row + 2.0 * GAP,
            };
            row = 0.0;
        }
        places.push(at);
        row = row.max(part.size.height);
        size.width = size.width.max(at.x + part.size.width);
        size.height = size.height.max(at.y + part.size.height);
        at.x += part.size.width + 2.0 * GAP;
    }
    (places, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Size = Size {
        width: 100.0,
        height: 40.0,
    };

    fn same_size(count: usize, arrows: &[(usize, usize)]) -> Layout {
        layout(&vec![BOX; count], arrows)
    }

    /// Counts overlapping boxes. Sorts them by their left sides, so that only boxes of one column
    /// are compared.
    fn overlaps(layout: &Layout) -> usize {
        let mut boxes = layout.boxes.clone();
        boxes.sort_by(|one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
        boxes
            .windows(2)
            .filter(|pair| pair[0].x == pair[1].x && pair[1].y - pair[0].y < BOX.height)
            .count()
    }

    #[test]
    fn arrows_run_from_left_to_right() {
        let arrows = [(0, 1), (1, 2), (0, 2), (3, 2)];
        let layout = same_size(4, &arrows);
        for (from, to) in arrows {
            assert!(layout.boxes[from].x < layout.boxes[to].x);
        }
        assert_eq!(
            layout.boxes[3].x, layout.boxes[1].x,
            "it stands beside what it points at"
        );
        assert_eq!(
            layout.routes[2].len(),
            5,
            "a long arrow passes through the column between"
        );
        assert_eq!(overlaps(&layout), 0);
    }

    #[test]
    fn boxes_fit_the_canvas_and_arrows_touch_boxes() {
        let arrows: Vec<(usize, usize)> = (1..40).map(|at| (at, at / 3)).collect();
        let layout = same_size(43, &arrows);
        for place in &layout.boxes {
            assert!(place.x >= 0.0 && place.x + BOX.width <= layout.size.width + 0.01);
            assert!(
                place.y >= -0.01 && place.y + BOX.height <= layout.size.height + 0.01,
                "{place:?}"
            );
        }
        for ((from, to), route) in arrows.iter().zip(&layout.routes) {
            assert_eq!(route[0].x, layout.boxes[*from].x + BOX.width);
            let end = route[route.len() - 1];
            assert_eq!(
                (end.x, end.y),
                (layout.boxes[*to].x, layout.boxes[*to].y + BOX.height / 2.0)
            );
        }
        assert_eq!(overlaps(&layout), 0);
    }

    #[test]
    fn a_tree_has_no_crossings() {
        // The children of each box are far from each other in document order.
        let shuffled = (1..31_usize).map(|at| at * 7 % 31);
        let arrows: Vec<(usize, usize)> = shuffled.map(|at| (at, (at - 1) / 2)).collect();
        let heights = vec![40.0; 31];
        let ranks = ranks(31, &arrows);
        let (mut layered, _) = Layered::new(&heights, &ranks, &arrows);
        layered.order();
        assert_eq!(layered.crossings(&mut vec![0.0; layered.items.len()]), 0);
    }

    #[test]
    fn cycles_and_self_loops_are_laid_out() {
        let layout = same_size(3, &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert!(layout.boxes[0].x < layout.boxes[1].x && layout.boxes[1].x < layout.boxes[2].x);
        assert_eq!(layout.routes[2].len(), 3);
    }

    #[test]
    fn boxes_without_arrows_share_a_grid() {
        let layout = same_size(100, &[]);
        assert!(
            layout.size.width < 2_500.0 && layout.size.height < 2_500.0,
            "{:?}",
            layout.size
        );
        assert_eq!(layout, same_size(100, &[]));
        assert_eq!(
            same_size(0, &[]).size,
            Size {
                width: 0.0,
                height: 0.0
            }
        );
    }

    #[test]
    fn wanted_positions_are_kept_if_they_fit() {
        assert_eq!(spread(&[0.0, 100.0], &[0.0, 58.0]), [0.0, 100.0]);
        assert_eq!(spread(&[10.0, 10.0], &[0.0, 58.0]), [-19.0, 39.0]);
    }

    #[test]
    fn number_of_stops_grows_linearly() {
        // A long chain in which each box also points at the box half way down: n^2/4 stops without
        // a limit.
        let count = 2_000;
        let arrows: Vec<(usize, usize)> = (1..count)
            .flat_map(|at| [(at, at - 1), (at, at / 2)])
            .filter(|(from, to)| from != to)
            .collect();
        let ranks = ranks(count, &arrows);
        let (layered, passes) = Layered::new(&vec![40.0; count], &ranks, &arrows);
        let steps: usize = passes.iter().map(Vec::len).sum();
        assert!(
            layered.items.len() <= 5 * count + 4 * arrows.len()
                && steps <= 4 * (count + arrows.len())
        );
        assert_eq!(overlaps(&layout(&vec![BOX; count], &arrows)), 0);
    }
}
