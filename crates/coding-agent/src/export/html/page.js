
"use strict";
(function () {
  var flow = document.getElementById("flow");
  var found = document.getElementById("found");
  var parts = Array.prototype.slice.call(
    flow.querySelectorAll("article,details.result,.divider,.note"));

  function unfold(node) {
    for (; node && node !== flow; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
  }

  function search(text) {
    var words = text.toLowerCase().split(/\s+/).filter(Boolean);
    var count = 0;
    parts.forEach(function (part) {
      var content = words.length ? part.textContent.toLowerCase() : "";
      var hit = words.every(function (word) { return content.indexOf(word) >= 0; });
      part.classList.toggle("hidden", !hit);
      if (hit && words.length) {
        count += 1;
        unfold(part.parentElement);
      }
    });
    found.textContent = words.length ? count + " found" : "";
  }

  var waiting = 0;
  document.getElementById("search").addEventListener("input", function (event) {
    clearTimeout(waiting);
    waiting = setTimeout(function () { search(event.target.value); }, 150);
  });

  function fold(open) {
    flow.querySelectorAll("details").forEach(function (part) { part.open = open; });
  }
  document.getElementById("unfold").addEventListener("click", function () { fold(true); });
  document.getElementById("fold").addEventListener("click", function () { fold(false); });

  flow.querySelectorAll("pre").forEach(function (block) {
    var button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      var text = block.textContent.slice(0, -button.textContent.length);
      navigator.clipboard.writeText(text).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1200);
      });
    });
    block.appendChild(button);
  });

  function show() {
    var target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) {
      unfold(target);
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", show);
  show();
})();
