"use strict";
// The page is complete without this script. The script folds the contents on a phone and marks the section in view, shows
// the title of a point beside it, hides groups of points, zooms, shows a point's provenance beside the map, and copies
// texts. It fetches nothing.
(() => {
  const each = (selector, use, root = document) => root.querySelectorAll(selector).forEach(use);

  // Contents: they are folded on narrow screens, where they would cover the page; the section in view is marked.
  const contents = document.querySelector("nav details");
  const narrow = matchMedia("(max-width: 63.99rem)");
  const fold = () => (contents.open = !narrow.matches);
  fold();
  narrow.addEventListener("change", fold);
  contents.addEventListener("click", (event) => event.target.closest("a") && fold());
  const entries = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) isIntersecting ? seen.add(target.id) : seen.delete(target.id);
    const first = [...entries.keys()].find((id) => seen.has(id));
    if (!first) return;
    for (const [id, link] of entries) link.classList.toggle("here", id === first);
  }, { rootMargin: "-10% 0px -60% 0px" });
  each("main > section", (section) => watch.observe(section));

  // Copying: to the clipboard if the browser allows it, else by selecting the text.
  each("button[data-copy]", (button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const label = button.textContent;
      try {
        await navigator.clipboard.writeText(source.textContent.trim());
      } catch {
        source.closest("details")?.setAttribute("open", "");
        getSelection().selectAllChildren(source);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = label), 1500);
    });
  });

  // An item's printed question and prompts stand once per language: a copy is shown where the item is opened.
  each("details.item", (item) => {
    item.addEventListener("toggle", () => {
      const slot = item.querySelector(".slot");
      const form = document.getElementById(item.dataset.form);
      if (!item.open || !form || slot.firstChild) return;
      slot.append(...[...form.childNodes].map((node) => node.cloneNode(true)));
      item.querySelector(".to-form").hidden = true;
    });
  });

  const view = document.getElementById("map-view");
  if (!view) return;
  const svg = view.querySelector("svg");
  const paper = view.querySelector(".paper");
  const card = view.querySelector(".map-card");
  const tools = view.querySelector(".map-tools");
  const here = document.getElementById("trace-here");
  tools.hidden = false;

  // The title of a point: the script shows it instead of the browser.
  const points = [...svg.querySelectorAll("g.point")].map((mark) => {
    const title = mark.querySelector("title");
    const reach = mark.querySelector("circle.reach");
    const text = title.textContent;
    title.remove();
    return { text, reach, holder: mark.closest("a") ?? mark, x: Number(reach.getAttribute("cx")), y: Number(reach.getAttribute("cy")) };
  });
  let shown = null;
  const show = (point) => {
    if (shown === point) return;
    shown?.holder.classList.remove("near");
    shown = point;
    card.hidden = !point;
    if (!point) return;
    point.holder.classList.add("near");
    card.textContent = point.text;
    const mark = point.reach.getBoundingClientRect();
    const frame = view.getBoundingClientRect();
    const right = mark.right - frame.left + 8;
    const fits = right + card.offsetWidth < frame.width;
    card.style.left = `${Math.max(0, fits ? right : mark.left - frame.left - card.offsetWidth - 8)}px`;
    card.style.top = `${Math.max(0, mark.top - frame.top - card.offsetHeight / 2)}px`;
  };
  // Marks may overlap: the pointer selects the nearest one, whichever is on top.
  const nearest = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = (point) => Math.hypot(point.x - x, point.y - y);
    const seen = points.filter((point) => !point.holder.classList.contains("off") && far(point) < 10);
    return seen.sort((one, other) => far(one) - far(other))[0] ?? null;
  };
  svg.addEventListener("pointermove", (event) => {
    const point = nearest(event);
    show(point);
    svg.style.cursor = point?.holder.matches("a") ? "pointer" : "";
  });
  svg.addEventListener("pointerleave", () => show(null));
  for (const point of points) {
    point.holder.addEventListener("focus", () => show(point));
    point.holder.addEventListener("blur", () => show(null));
  }

  // A click on a model's point shows its provenance beside the map.
  let opened = null;
  const putBack = () => {
    if (!opened) return;
    opened.trace.open = false;
    opened.mark.replaceWith(opened.trace);
    opened.link.classList.remove("current");
    opened = null;
  };
  const open = (link) => {
    putBack();
    const trace = document.getElementById(link.getAttribute("href").slice(1)).closest("details");
    const mark = document.createComment("");
    trace.replaceWith(mark);
    here.append(trace);
    trace.open = true;
    opened = { trace, mark, link };
    link.classList.add("current");
    trace.querySelector("summary").focus({ preventScroll: true });
    here.scrollIntoView({ block: "nearest" });
    if (here.getBoundingClientRect().bottom > innerHeight) here.scrollIntoView({ block: "start" });
  };
  svg.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) event.preventDefault();
    const meant = event.detail === 0 ? link : nearest(event)?.holder; // 0: Enter on a mark that has the focus
    if (meant?.matches("a") && !moved) open(meant);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    show(null);
    if (opened && here.contains(document.activeElement)) {
      const link = opened.link;
      putBack();
      link.focus();
      view.scrollIntoView({ block: "nearest" });
    }
  });

  // Groups of points are hidden together with their names and intervals.
  tools.addEventListener("change", (event) => {
    each("[data-group]", (part) => {
      if (part.dataset.group === event.target.value) (part.closest("a") ?? part).classList.toggle("off", !event.target.checked);
    }, svg);
  });

  // Zoom and pan change the visible part of the figure.
  const [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const all = { x, y, width, height };
  let part = { ...all };
  let moved = false;
  const set = (next) => {
    const width = Math.min(all.width, Math.max(all.width / 12, next.width));
    const height = (width * all.height) / all.width;
    const within = (value, low, room) => Math.min(low + room, Math.max(low, value));
    part = { x: within(next.x, all.x, all.width - width), y: within(next.y, all.y, all.height - height), width, height };
    svg.setAttribute("viewBox", `${part.x} ${part.y} ${part.width} ${part.height}`);
    paper.style.cursor = width < all.width ? "grab" : "";
    show(null);
  };
  const zoom = (factor, across = 0.5, along = 0.5) =>
    set({
      x: part.x + part.width * across * (1 - factor),
      y: part.y + part.height * along * (1 - factor),
      width: part.width * factor,
      height: part.height * factor,
    });
  const steps = { in: () => zoom(0.7), out: () => zoom(1 / 0.7), reset: () => set(all) };
  each("[data-zoom]", (button) => button.addEventListener("click", steps[button.dataset.zoom]), tools);
  view.addEventListener("keydown", (event) => {
    const step = { "+": "in", "=": "in", "-": "out", 0: "reset" }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    steps[step]();
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const frame = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, (event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height);
  }, { passive: false });
  svg.addEventListener("pointerdown", (down) => {
    moved = false;
    if (part.width >= all.width || down.button) return;
    const start = { ...part };
    const frame = svg.getBoundingClientRect();
    const drag = (event) => {
      const [right, under] = [event.clientX - down.clientX, event.clientY - down.clientY];
      if (Math.hypot(right, under) > 4) moved = true;
      if (moved) set({ ...start, x: start.x - (right * start.width) / frame.width, y: start.y - (under * start.height) / frame.height });
    };
    const end = () => {
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", drag);
    addEventListener("pointerup", end);
  });
  svg.addEventListener("dragstart", (event) => event.preventDefault());
})();
