//! The look of a page, in light and dark.

/// Its style sheet.
pub(crate) const STYLE: &str = ":root{color-scheme:light dark;--line:#ccc;--soft:#f4f4f4;--bad:#b00020;--good:#00693e;--ask:#0072b2}\
    @media (prefers-color-scheme:dark){:root{--line:#444;--soft:#222;--bad:#ff8a80;--good:#7bd88f;--ask:#7cc4ff}}\
    body{font:16px/1.5 sans-serif;max-width:76rem;margin:1.5rem auto;padding:0 1rem}\
    h2{margin-top:2.5rem}h3{font-size:1rem;margin:1.5rem 0 .5rem}\
    table{border-collapse:collapse;font-size:.9rem}th,td{border-bottom:1px solid var(--line);padding:.3rem .7rem;text-align:left;\
    vertical-align:top}td{white-space:nowrap}td:last-child{white-space:normal;min-width:12rem}.wide{overflow-x:auto}\
    .two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem}\
    svg{width:100%;max-width:40rem;display:block}svg text{font:12px sans-serif;fill:currentColor}svg .t{font-weight:bold;font-size:13px}\
    svg .g{stroke:var(--line)}figure{margin:1rem 0}figure img{max-width:100%;border:1px solid var(--line)}\
    figcaption{max-width:60rem}.strip{display:flex;gap:.6rem;overflow-x:auto;padding:.2rem 0 .6rem;margin:0;list-style:none;counter-reset:step}\
    .strip li{flex:0 0 15rem;max-height:19rem;overflow-y:auto;border:1px solid var(--line);border-top:6px solid var(--line);background:var(--soft);padding:.4rem .6rem;\
    font-size:.82rem;overflow-wrap:anywhere;counter-increment:step}.strip li b::before{content:counter(step) \" · \"}\
    .strip p{margin:.2rem 0;white-space:pre-line}.strip .answer{border-top:1px solid var(--line);padding-top:.2rem}\
    .strip .no{border-top-color:var(--bad)}.strip .yes{border-top-color:var(--good)}.strip .ask{border-top-color:var(--ask)}\
    .bad{color:var(--bad)}.good{color:var(--good)}code{overflow-wrap:anywhere}\
    .two img{max-width:100%;border:1px solid var(--line)}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);\
    padding:.6rem;font-size:.75rem;max-height:24rem;overflow:auto}";
