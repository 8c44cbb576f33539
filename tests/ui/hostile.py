"""What a page or a model could write to take over the visitor's page."""

SPY = "http://spy.example"

# What turns the reading direction, and what moves a terminal's cursor.
TURNS, ESCAPES = "\u202e\u2066", "\x1b]0;owned\x07\x1b[2J\x9b31m"

HOSTILE = f"""Seen. <script>window.taken=1</script> <img src="{SPY}/a.png" onerror="window.taken=2">
<style>body{{display:none !important}}</style> <div style="position:fixed;inset:0;z-index:9999">over</div>
![pic]({SPY}/b.png) ![ref][r] [js](javascript:window.taken=3) <iframe src="{SPY}/c"></iframe>
`` ` <b>bold</b> ``` ${{window.taken=4}} {{{{window.taken=5}}}} <details open ontoggle="window.taken=6">

- item
  ```
outside <svg onload="window.taken=7">
  ```

[r]: {SPY}/d.png

!\u202e[split]({SPY}/e.png) \u202eelpmaxe.emro//:sptth\u2066 {ESCAPES} <link rel=stylesheet href="{SPY}/f.css">
<meta http-equiv="refresh" content="0;url={SPY}/g"> <base href="{SPY}/"> <object data="{SPY}/h"></object>
<video src="{SPY}/i.mp4" autoplay></video> <a href="{SPY}/j" ping="{SPY}/k">a</a> [k](data:text/html,<script>1</script>)
<{SPY}/l> <form action="{SPY}/m"><button>Stop</button></form> ![n](//spy.example/n.png "t") [![o]({SPY}/o.png)](x)

```mermaid
graph TD
  A[<img src=x onerror=window.taken=8>] --> B
```
"""
