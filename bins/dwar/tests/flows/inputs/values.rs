//! Values for text fields: valid ones, and possible errors in blanks, edges, lengths, case,
//! separators and unusual Unicode.

const BLANKS: [&str; 10] =
    [" ", "\t", "\n", "\r\n", "\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "\u{feff}", "\u{200b}"];
const ODD: [&str; 44] = [
    "\0",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{61c}",
    "\u{200b}",
    "\u{200d}",
    "\u{200e}",
    "\u{202e}",
    "\u{2028}",
    "\u{2066}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10ffff}",
    "e\u{301}",
    "ſ",
    "\u{212a}",
    "İ",
    "ß",
    "😀",
    "क्‍ष",
    "=",
    ",",
    ";",
    "'",
    "\"",
    "<b>",
    "&amp;",
    "\\",
    "%00",
    "{",
    "}",
    "{brand}",
    "${x}",
    "--",
    "#",
    "?",
    "|",
];
const LENGTHS: [usize; 19] =
    [1, 11, 29, 30, 31, 32, 59, 60, 61, 63, 64, 65, 199, 200, 201, 511, 512, 513, 2_049];

/// Random-looking values that are the same in every run (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.next(all.len())]
    }

    fn letter(&mut self) -> char {
        let most = [0x7f, 0x7ff, 0xffff, 0x0010_ffff][self.next(4)];
        char::from_u32(u32::try_from(self.next(most)).unwrap()).unwrap_or('\u{fffd}')
    }

    /// A value for a field that accepts `good` ones.
    pub fn value(&mut self, good: &[&str]) -> String {
        let good = self.of(good);
        let cut = |text: &str, at: usize| {
            let (before, after) =
                text.char_indices().nth(at).map_or((text, ""), |(at, _)| text.split_at(at));
            (before.to_owned(), after.to_owned())
        };
        match self.next(10) {
            0 | 1 => good.to_owned(),
            2 => format!("{}{good}{}", self.of(&BLANKS), self.of(&BLANKS)),
            3 | 4 => {
                let (before, after) = cut(good, self.next(good.chars().count() + 1));
                format!("{before}{}{after}", self.of(&ODD))
            }
            5 => good.to_uppercase(),
            6 => good.chars().cycle().take(LENGTHS[self.next(LENGTHS.len())]).collect(),
            7 => (0..=self.next(4)).map(|_| self.of(&ODD)).collect(),
            8 => (0..self.next(20)).map(|_| self.letter()).collect(),
            _ => [self.of(&BLANKS), self.of(&BLANKS)].concat().repeat(self.next(2)),
        }
    }
}
