// Tables are sorted by the buttons in their headings, and rows without a number stay at the end. What is printed is complete.
(function () {
  "use strict";
  var said = document.getElementById("said");
  function value(row, place) {
    var cell = row.cells[place], number = cell.getAttribute("data-sort");
    return number === null ? cell.textContent.trim() : number === "" ? null : Number(number);
  }
  function compare(a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  }
  function sort(heading) {
    var table = heading.closest("table"), body = table.tBodies[0], place = heading.cellIndex;
    var isRising = heading.getAttribute("aria-sort") !== "ascending", sign = isRising ? 1 : -1;
    var rows = Array.prototype.map.call(body.rows, function (row) { return { row: row, value: value(row, place) }; });
    rows.sort(function (a, b) {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      return sign * compare(a.value, b.value);
    });
    table.querySelectorAll("th[aria-sort]").forEach(function (other) { other.setAttribute("aria-sort", "none"); });
    heading.setAttribute("aria-sort", isRising ? "ascending" : "descending");
    rows.forEach(function (each) { body.appendChild(each.row); });
    said.textContent = "Sorted by " + heading.textContent.trim() + (isRising ? ", smallest first." : ", largest first.");
  }
  document.querySelectorAll("th[aria-sort] button").forEach(function (button) {
    button.addEventListener("click", function () { sort(button.closest("th")); });
  });
  function unfold() { document.querySelectorAll("details").forEach(function (each) { each.open = true; }); }
  window.addEventListener("beforeprint", unfold);
})();
