"""What a page or a model could write to take over the visitor's page."""

SPY = "http://spy.example"

HOSTILE = f"""Seen. <script>window.taken=1</script> <img src="{SPY}/a.png" onerror="window.taken=2">
<style>body{{display:none !important}}</style> <div style="position:fixed;inset:0;z-index:9999">over</div>
![pic]({SPY}/b.png) ![ref][r] [js](javascript:window.taken=3) <iframe src="{SPY}/c"></iframe>
`` ` <b>bold</b> ``` ${{window.taken=4}} {{{{window.taken=5}}}} <details open ontoggle="window.taken=6">

- item
  ```
outside <svg onload="window.taken=7">
  ```

[r]: {SPY}/d.png

```mermaid
graph TD
  A[<img src=x onerror=window.taken=8>] --> B
```
"""
