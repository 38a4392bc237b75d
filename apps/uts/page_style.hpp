// SPDX-License-Identifier: MIT
// The style sheet of the demo's page: system fonts, colours as variables for light and dark, nothing
// external.
#pragma once

namespace weft::uts {

inline constexpr const char* page_style = R"css(
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#5d6570;--line:#e2e4e8;
--grid:#e9ebee;
--good:#13795b;--bad:#c2212e;--badbg:#fdecec;--goodbg:#e8f5f0;--f0:#9aa1ab;--f1:#d07b2c;--f2:#4a7fc9;
--f3:#0d9488;--f4:#8d62b8;
--k0:#0d9488;--k1:#d9a23b;--k2:#4a7fc9;--k3:#c65d7b;--k4:#8d62b8;--k5:#7a9a3a;--k6:#9aa1ab;--lane:#eef0f2}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1b1f24;--ink:#e4e7eb;--soft:#98a1ad;
--line:#2c323a;--grid:#272d34;
--good:#4cc9a0;--bad:#ff7b85;--badbg:#3a1d21;--goodbg:#15302a;--f0:#767f8b;--f1:#e0934a;--f2:#6d9fe4;
--f3:#2cc4b5;--f4:#af8bd8;
--k0:#2cb5a7;--k1:#dcb157;--k2:#6d9fe4;--k3:#de7f9a;--k4:#af8bd8;--k5:#9dbd5c;--k6:#767f8b;--lane:#22272d}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,-apple-system,
"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:1180px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:28px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:20px;margin:44px 0 4px}
h2 code{font-size:13px;font-weight:400;color:var(--soft);margin-left:10px}
p{margin:6px 0 12px;max-width:78ch}
.soft,figcaption{color:var(--soft)}
code{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.verdict{display:inline-block;margin:14px 0 4px;padding:6px 14px;border-radius:6px;font-weight:600}
.verdict.good{background:var(--goodbg);color:var(--good)}
.verdict.bad{background:var(--badbg);color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:14px;margin:18px 0 0}
.tile,.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px}
.tile b{display:block;font-size:23px;white-space:nowrap;line-height:1.25;font-variant-numeric:tabular-nums;
letter-spacing:-.01em}
.tile span{color:var(--soft);font-size:13.5px}
.card{margin:14px 0;overflow-x:auto}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:14px;margin:14px 0}
.plots .card{margin:0}
figure{margin:0}
figcaption{font-size:13.5px;font-weight:600;margin-bottom:6px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:13.5px}
th,td{text-align:right;padding:6px 7px;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:600;font-size:12px;white-space:normal;vertical-align:bottom;
line-height:1.3}
th:first-child,td:first-child{text-align:left;padding-left:2px}
tr:last-child td{border-bottom:0}
tr.weft td{font-weight:600}
tr.bad td{background:var(--badbg);color:var(--bad)}
td.reason{text-align:left;white-space:normal}
.good{color:var(--good)}
.bad{color:var(--bad)}
td i.dot{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:8px}
table.facts td{text-align:left;white-space:normal;vertical-align:top}
table.facts td:first-child{color:var(--soft);white-space:nowrap;width:1%;padding-right:24px}
svg{display:block;width:100%;height:auto;font:12.5px system-ui,sans-serif}
svg.timeline{min-width:760px}
svg text{fill:var(--ink)}
svg .label{text-anchor:end}
svg .tick{text-anchor:middle;fill:var(--soft);font-size:11px}
svg .value{font-variant-numeric:tabular-nums}
svg .value.bad{fill:var(--bad);font-weight:600}
svg .axis,svg .stem{stroke:var(--soft);stroke-width:1}
svg .stem{opacity:.45}
svg .grid{stroke:var(--grid);stroke-width:1}
svg .lane{fill:var(--lane)}
.f0{fill:var(--f0);background:var(--f0)}.f1{fill:var(--f1);background:var(--f1)}.f2{fill:var(--f2);
background:var(--f2)}
.f3{fill:var(--f3);background:var(--f3)}.f4{fill:var(--f4);background:var(--f4)}
.one{opacity:.55}
.k0{fill:var(--k0);background:var(--k0)}.k1{fill:var(--k1);background:var(--k1)}.k2{fill:var(--k2);
background:var(--k2)}
.k3{fill:var(--k3);background:var(--k3)}.k4{fill:var(--k4);background:var(--k4)}.k5{fill:var(--k5);
background:var(--k5)}
.k6{fill:var(--k6);background:var(--k6)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 22px;padding:0;margin:12px 0 0;font-size:13.5px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:7px}
.legend i.own{background:var(--lane)}
.legend span{color:var(--soft)}
@media(max-width:560px){.plots{grid-template-columns:1fr}main{padding:20px 14px}}
)css";

} // namespace weft::uts
