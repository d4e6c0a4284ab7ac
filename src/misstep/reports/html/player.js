// The viewer of bugs: a slider over both courses, the states beside each other, what the certificate proves.
"use strict";

(() => {
  const MOST_ROWS = 3000;
  // So many pixels of a long table are seen at once.
  const MOST_SEEN = 420;
  // Of a fact of the goal, by who has reached it: its class, its sign, and what that means.
  const GOALS = [["", "○", "not reached yet"], ["half", "◐", "reached by the policy alone"],
    ["half", "◐", "reached by the better way alone"], ["holds", "✓", "reached by both"]];
  const data = JSON.parse(document.getElementById("data").textContent);

  function html(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  // What both kinds of viewers share: choosing a bug, the slider, the keyboard.
  class Viewer {
    constructor(root, record, number) {
      Object.assign(this, { root, record, number, index: 0 });
      this.title = html("h3", { class: "bug-title", tabindex: "-1" });
      this.slider = html("input", { type: "range", min: 0, value: 0, "aria-label": "step",
        oninput: () => this.go(Number(this.slider.value)) });
      this.strip = html("div", { class: "strip", "aria-hidden": "true" });
      this.label = html("output", { class: "step-label", "aria-live": "polite" });
      const button = (text, label, by) => html("button", { type: "button", "aria-label": label,
        onclick: () => this.go(by(this.at)) }, text);
      const controls = html("div", { class: "controls" },
        button("|◀", "first state", () => 0), button("◀", "one step back", (at) => at - 1),
        html("div", { class: "track" }, this.slider, this.strip),
        button("▶", "one step on", (at) => at + 1), button("▶|", "last state", () => this.last));
      this.jump = html("button", { type: "button", class: "jump", onclick: () => this.go(this.point) });
      const other = (text, by) => html("button", { type: "button", class: "jump", onclick: () => this.neighbour(by) },
        text);
      this.body = html("div", { class: "viewer-body" });
      root.replaceChildren(html("div", { class: "bug-head" }, this.title, html("div", { class: "bug-nav" },
        other("‹ previous bug", -1), other("next bug ›", 1))),
        html("div", { class: "steering" }, controls, html("div", { class: "under-slider" }, this.label, this.jump)),
        this.body);
      root.hidden = false;
      root.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      if (event.target === this.slider || event.altKey || event.ctrlKey || event.metaKey) return;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by) {
        event.preventDefault();
        this.go(this.at + by);
      }
    }

    neighbour(by) {
      const count = this.record.bugs.length;
      const next = this.record.bugs[(this.index + by + count) % count];
      location.hash = `r${this.number}-bug-${next.id}`;
    }

    show(index) {
      this.index = index;
      this.bug = this.record.bugs[index];
      this.title.textContent = `Bug ${this.bug.id}: ${this.text(this.bug.head)}`;
      this.load();
      this.slider.max = this.last;
      this.strip.replaceChildren(...this.ticks());
      this.jump.textContent = this.pointWords;
      this.jump.hidden = this.point === null;
      this.go(this.point === null ? 0 : this.point);
    }

    text(number) {
      return typeof number === "number" ? this.record.texts[number] : number;
    }

    ticks() {
      const found = [];
      for (let step = 0; step < Math.min(this.last, 400); step++) found.push(html("i",
        { class: this.tickClass(step) }));
      return found;
    }

    go(at) {
      this.at = Math.max(0, Math.min(this.last, at));
      this.slider.value = this.at;
      const words = this.at === 0 ? `the first state, before any step (of ${this.last})` : `after step ${this.at} of ${this.last}`;
      this.label.textContent = words;
      this.slider.setAttribute("aria-valuetext", words);
      this.update();
    }

    explained(...parts) {
      return html("div", { class: "explained" }, ...parts);
    }

    replay() {
      return this.bug.replay === null ? null : html("p", {}, "Ask the policy again: ", html("code", {},
        this.bug.replay));
    }
  }

  // Of a long table whole rows are seen, none is cut: those around `now`, or what was scrolled to.
  function showRows(box, now) {
    const rows = [...box.querySelectorAll("tbody tr")].filter((row) => !row.hidden), was = box.scrollTop;
    box.style.maxHeight = "none";
    const heights = rows.map((row) => row.getBoundingClientRect().height);
    const head = box.querySelector("thead").getBoundingClientRect().height, room = MOST_SEEN - head;
    if (heights.reduce((sum, height) => sum + height, 0) <= room) return;
    let first = now ? rows.indexOf(now) : rows.findIndex((row) => row.offsetTop - head + 1 >= was);
    if (first < 0) first = rows.length - 1;
    let last = first, seen = 0;
    if (now) while (first > 0 && seen + heights[first - 1] <= room / 2) seen += heights[--first];
    // Where the table ends before the room is full, rows before are seen as well.
    while (last < rows.length && (last === first || seen + heights[last] <= room)) seen += heights[last++];
    while (first > 0 && seen + heights[first - 1] <= room) seen += heights[--first];
    box.style.maxHeight = `${head + seen + box.offsetHeight - box.clientHeight}px`;
    box.scrollTop = rows[first].offsetTop - head;
  }

  const LONG_TABLES = ".steps:not(.variables), .wide";
  const showAllRows = (part) => part.querySelectorAll(LONG_TABLES).forEach((box) => showRows(box));
  let scrolled = null;
  document.addEventListener("scroll", ({ target }) => {
    if (target === document || !target.matches(LONG_TABLES)) return;
    clearTimeout(scrolled);
    scrolled = setTimeout(() => showRows(target), 150);
  }, true);
  document.addEventListener("toggle", ({ target }) => showAllRows(target), true);
  addEventListener("resize", () => showAllRows(document));

  function markRow(row, isNow) {
    row.toggleAttribute("data-now", isNow);
    if (isNow) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  }

  function facts(title, names) {
    return html("div", { class: "facts" }, html("h5", {}, title), html("p", {}, ...names.map((name) => html("code", {},
      name)).flatMap((node, at) => (at ? [" ", node] : [node]))));
  }

  // Two courses of a classical task.
  class CourseViewer extends Viewer {
    load() {
      const { record, bug } = this;
      this.drawer ||= new Drawer(record);
      const start = record.initial.slice();
      for (let i = 0; i < bug.start.length; i += 2) start[bug.start[i]] = bug.start[i + 1];
      const [shared, ...rest] = bug.plan;
      this.courses = [bug.run, [...bug.run.slice(0, shared), ...rest]].map((numbers) => this.follow(start, numbers));
      // An answer that ended the run is a step on which nothing changes.
      this.last = Math.max(this.courses[0].steps.length + (bug.answer !== null ? 1 : 0), this.courses[1].steps.length);
      this.drawer.prepare(this.courses.flatMap((course) => course.states));
      this.parts = this.firstDifference();
      this.point = bug.step !== null ? bug.step + 1 : this.parts;
      this.isSingle = bug.step !== null && bug.until === bug.step + 1;
      const at = this.isSingle ? `step ${bug.until}` : `one of steps ${(bug.step || 0) + 1} to ${bug.until}`;
      this.pointWords = bug.step !== null ? `go to the misstep (${at})` : `go to where they part (step ${this.point})`;
      this.build();
    }

    follow(start, numbers) {
      const states = [start], steps = [];
      let cost = 0;
      const costs = [0];
      for (const number of numbers) {
        const [name, price, effect] = this.record.actions[number];
        const next = states[states.length - 1].slice();
        for (let i = 0; i < effect.length; i += 2) next[effect[i]] = effect[i + 1];
        states.push(next);
        steps.push({ name, cost: price });
        costs.push((cost += price));
      }
      return { states, steps, costs };
    }

    firstDifference() {
      const [one, other] = this.courses.map((course) => course.steps);
      for (let at = 0; at < this.last; at++) if (one[at]?.name !== other[at]?.name) return at + 1;
      return null;
    }

    // Whether this step is the misstep, or one of those of which one is.
    isWrong(step) {
      return this.bug.step !== null && step >= this.bug.step && step < this.bug.until;
    }

    tickClass(step) {
      if (this.isWrong(step)) return "wrong";
      if (this.bug.back !== null && step >= this.bug.back && step < this.courses[0].steps.length) return "again";
      return this.parts !== null && step < this.parts - 1 ? "same" : "";
    }

    build() {
      const { bug } = this;
      this.panels = [["the policy", "policy"], ["a better way", "better"]].map(([title, kind]) => {
        const panel = { action: html("p", { class: "action" }), remark: html("p", { class: "remark" }),
          picture: html("div", { class: "picture" }), cost: html("span", { class: "cost" }), legend: html("p",
          { class: "legend" }) };
        panel.root = html("section", { class: `panel ${kind}` }, html("h4", {}, title, " ", panel.cost), panel.action,
          panel.picture, panel.legend, panel.remark);
        return panel;
      });
      // Where drawings are too wide for their panels, both show the same part.
      const [one, other] = this.panels.map((panel) => panel.picture);
      for (const [moved, following] of [[one, other], [other, one]]) {
        moved.addEventListener("scroll", () => { following.scrollLeft = moved.scrollLeft; });
      }
      this.rows = [];
      const body = html("tbody");
      const width = Math.max(...this.courses.map((course) => course.steps.length)) + 1;
      for (let step = 0; step < Math.min(width, MOST_ROWS); step++) body.append(this.row(step));
      this.goals = html("p", { class: "goals" });
      this.steps = html("div", { class: "steps", tabindex: "0", role: "region", "aria-label": "all steps" },
        html("table", {}, html("thead", {}, html("tr", {}, ...["step", "the policy", "cost", "a better way",
        "cost"].map((word) => html("th", { scope: "col", class: word === "cost" && "number" }, word)))), body));
      const reason = bug.reason === null ? null : html("p", {}, html("b", {}, "Reason: "), this.text(bug.reason));
      const needed = facts(this.text(bug.where), bug.needed.map((fact) => this.text(fact)));
      const titles = ["True only after the policy's action:", "True only after the better action:"];
      const differences = (bug.differences || []).map((found, at) =>
        facts(titles[at], found.length ? found.map((fact) => this.text(fact)) : ["nothing"]));
      this.all = html("details", {}, html("summary", {}, "All facts of both states"), html("div", { class: "two" }));
      this.all.addEventListener("toggle", () => this.listFacts());
      this.body.replaceChildren(this.goals, html("div", { class: this.drawer.isWide ? "two wide-scenes" : "two" },
        ...this.panels.map((panel) => panel.root)), this.steps,
        this.explained(html("p", { class: "misstep-line" }, html("b", {}, "Misstep: "), this.text(bug.misstep)), reason,
          html("p", {}, html("b", {}, "Proven: "), this.text(bug.proof)), html("details", {}, html("summary", {},
            "What differs, and what the better way needs"), ...differences, needed), this.all, this.replay()));
    }

    row(step) {
      const { bug } = this;
      const cells = this.courses.flatMap((course, at) => {
        const found = course.steps[step];
        if (found) return [html("td", {}, found.name), html("td", { class: "number" }, String(found.cost))];
        const over = step - course.steps.length - (at === 0 && bug.answer !== null ? 1 : 0);
        const said = at === 0 && bug.answer !== null &&
          over === -1 ? this.text(bug.answer) : over === 0 ? this.text(bug.ends[at]) : "";
        return [html("td", { colspan: 2, class: said ? "end" : "" }, said)];
      });
      const isAgain = bug.back !== null && step >= bug.back && step < this.courses[0].steps.length;
      const marks = [this.isWrong(step) ? "misstep" : "", isAgain ? "again" : ""].join(" ");
      const row = html("tr", { class: marks, onclick: () => this.go(Math.min(step + 1, this.last)) }, html("th",
        { scope: "row" }, step < this.last ? String(step + 1) : ""), ...cells);
      this.rows.push(row);
      return row;
    }

    update() {
      this.panels.forEach((panel, which) => this.updatePanel(panel, which));
      this.rows.forEach((row, step) => markRow(row, step === this.at - 1));
      showRows(this.steps, this.rows[this.at - 1] || this.rows[0]);
      this.updateGoals();
      if (this.all.open) this.listFacts();
    }

    updatePanel(panel, which) {
      const course = this.courses[which], { bug, at } = this;
      const here = Math.min(at, course.states.length - 1);
      const step = at === 0 ? null : course.steps[at - 1];
      const isWrong = which === 0 && at > 0 && this.isWrong(at - 1);
      const ended = at >= course.states.length || at === course.states.length - 1;
      const answer = which === 0 && bug.answer !== null && at === course.states.length ? this.text(bug.answer) : null;
      panel.action.replaceChildren(...(step || answer ? [`step ${at}: `, html("code", {}, answer || step.name),
        step ? ` costs ${step.cost}` : ""] : at === 0 ? ["The state that is tested. No step was made yet."] : ["There is no step any more."]));
      panel.root.classList.toggle("wrong", isWrong);
      panel.cost.textContent = `cost so far ${course.costs[here]}`;
      const before = step ? this.drawer.picture(course.states[here - 1]) : null;
      const picture = this.drawer.picture(course.states[here]);
      const changed = this.drawer.changed(before, picture);
      panel.picture.replaceChildren(this.drawer.draw(picture, changed,
        `${which ? "a better way" : "the policy"}, state after ${here} steps`));
      const moved = panel.picture.querySelector(".moved");
      if (moved && panel.picture.scrollWidth > panel.picture.clientWidth) {
        panel.picture.scrollLeft += moved.getBoundingClientRect().left - panel.picture.getBoundingClientRect().left - panel.picture.clientWidth / 3;
      }
      const legend = this.drawer.legend(picture, before);
      panel.legend.replaceChildren(...legend.marks.map(([word, number]) => html("span", { class: "key" }, html("i",
        { class: `swatch mark${number}` }), word)), ...legend.texts.map(([word, change]) => html("span", { class: `key ${change}` },
        word)));
      panel.remark.replaceChildren(...this.remarks(which, isWrong, ended, at, course));
    }

    remarks(which, isWrong, ended, at, course) {
      const { bug } = this, said = [];
      if (isWrong) said.push(html("strong", { class: "bad" },
        this.isSingle ? "This is the misstep. " : `One of steps ${bug.step + 1} to ${bug.until} is the misstep. `));
      if (which === 1 && this.isSingle && at > 0 && this.isWrong(at - 1)) said.push(html("strong", { class: "good" },
        "This is better. "));
      if (which === 0 && bug.back !== null) {
        if (at === bug.back) said.push(html("span", { class: "loop" },
          "The policy comes back to this state: the loop begins here. "));
        else if (at > bug.back && !ended) said.push(html("span", { class: "loop" }, "Inside the loop. "));
      }
      if (which === 0 && bug.back !== null && ended) {
        said.push(html("strong", { class: "bad" },
          `The same state as ${bug.back ? `after step ${bug.back}` : "at the start"}: the policy repeats this for ever.`));
      } else if (ended && at >= course.states.length - (which === 0 && bug.answer !== null ? 0 : 1)) {
        const end = this.text(bug.ends[which]);
        said.push(html("strong", { class: which === 0 && bug.outcome !== "solved" ? "bad" : "good" },
          end[0].toUpperCase() + end.slice(1) + "."));
      }
      if (!said.length && this.parts !== null && at < this.parts) said.push("Both do the same up to here.");
      return said;
    }

    updateGoals() {
      const goal = this.record.goal, names = this.record.facts;
      const state = this.courses.map((course) => course.states[Math.min(this.at, course.states.length - 1)]);
      const nodes = [], counts = [0, 0];
      for (let i = 0; i < goal.length; i += 2) {
        const holds = state.map((values) => values[goal[i]] === goal[i + 1]);
        holds.forEach((is, which) => (counts[which] += is));
        const [kind, sign, words] = GOALS[holds[0] + 2 * holds[1]];
        if (i < 24) nodes.push(html("code", { class: kind, title: words }, `${sign} `,
          names[goal[i]][goal[i + 1]] || "(not …)"), " ");
      }
      const total = goal.length / 2;
      this.goals.replaceChildren(html("b", {}, "Goal: "), ...nodes, goal.length > 24 ? `and ${total - 12} more. ` : "",
        `Reached now (✓): ${counts[0]} of ${total} by the policy, ${counts[1]} by the better way.`);
    }

    listFacts() {
      const lists = this.courses.map((course) => {
        const state = course.states[Math.min(this.at, course.states.length - 1)];
        return state.map((value, variable) => this.record.facts[variable][value]).filter(Boolean).sort();
      });
      const columns = lists.map((list, which) => html("p", {}, ...list.flatMap((name) => [html("code",
        { class: lists[1 - which].includes(name) ? "" : "differs" }, name), " "])));
      this.all.querySelector(".two").replaceChildren(...columns);
    }
  }

  // An unsafe run of a model.
  class RunViewer extends Viewer {
    load() {
      const { record, bug } = this;
      this.states = bug.run.map((number) => record.states[number]);
      this.last = this.states.length - 1;
      const fault = bug.faults[0];
      this.point = fault === undefined ? null : fault;
      this.pointWords = fault === undefined ? "" : `go to the misstep (step ${fault + 1})`;
      this.here = html("p", { class: "action" });
      this.table = html("tbody");
      this.body.replaceChildren(this.here, html("div", { class: "steps variables" }, html("table", {}, html("thead", {},
        html("tr", {}, ...["variable", "now", "in the whole run"].map((word) => html("th", { scope: "col",
        class: word === "now" && "number" }, word)))),
        this.table)),
        this.steps = html("div", { class: "steps", tabindex: "0", role: "region", "aria-label": "all steps" }, this.list()),
        this.explained(html("p", { class: "misstep-line" }, html("b", {}, "Misstep: "), bug.misstep),
          bug.why ? html("p", {}, html("b", {}, "Safe: "), bug.why) : "", html("p", {}, html("b", {}, "Proven: "),
          bug.proof), this.replay()));
    }

    tickClass(step) {
      return this.bug.faults.includes(step) ? "wrong" : this.states[step][4] ? "again" : "same";
    }

    list() {
      this.rows = this.states.slice(0, -1).map((state, step) => {
        const changes = this.record.fields.map((name, at) => [name, state[0][at],
          this.states[step + 1][0][at]]).filter(([, one, other]) => one !== other);
        const said = changes.map(([name, one, other]) => `${name} ${one} → ${other}`).join(", ") || "nothing";
        return html("tr", { class: this.bug.faults.includes(step) ? "misstep" : "", onclick: () => this.go(step) },
          html("th", { scope: "row" }, String(step + 1)), html("td", {}, state[1] || "no action"), html("td", {},
          this.bug.faults.includes(step) && state[2] ? state[2] : ""), html("td", {}, said));
      });
      return html("table", {}, html("thead", {}, html("tr", {}, ...["step", "the policy", "safe instead",
        "what changes"].map((word) => html("th", { scope: "col" }, word)))), html("tbody", {}, ...this.rows));
    }

    update() {
      const [values, action, alternative, isSafe, isLost] = this.states[this.at];
      const isFault = this.bug.faults.includes(this.at);
      const said = [];
      if (this.at === this.last) said.push(html("strong", { class: "bad" }, "This state is unsafe."));
      else {
        said.push("Here the policy does ", html("code", {}, action || "no action"), ". ");
        if (isFault) said.push(html("strong", { class: "bad" },
          "This is the misstep: after it nobody can avoid unsafe states. "), "Safe would be ", html("code",
          { class: "holds" }, alternative || "to stop"), ".");
        else if (isSafe) said.push(html("span", { class: "good" }, "From here a strategy still stays safe. "),
          alternative && alternative !== action ? html("span", {}, "It does ", html("code", {}, alternative),
          ".") : "");
        else if (isLost) said.push(html("span", { class: "loop" }, "From here nobody can avoid unsafe states."));
      }
      this.here.replaceChildren(...said);
      const before = this.at ? this.states[this.at - 1][0] : values;
      const rows = this.record.fields.map((name, at) => ({ name, at,
        varies: this.states.some((state) => state[0][at] !== values[at]) }));
      rows.sort((a, b) => b.varies - a.varies);
      this.table.replaceChildren(...rows.map(({ name, at, varies }) => html("tr",
        { class: before[at] !== values[at] ? "changed" : "" }, html("th", { scope: "row" }, name), html("td",
        { class: "number" }, String(values[at])), html("td", {}, varies ? this.line(at) : "does not change"))));
      this.rows.forEach((row, step) => markRow(row, step === this.at));
      showRows(this.steps, this.rows[Math.min(this.at, this.rows.length - 1)]);
    }

    // The values of one variable over the run; the fault in red, the present step as a dot.
    line(field) {
      const values = this.states.map((state) => Number(state[0][field]));
      const low = Math.min(...values), high = Math.max(...values), SVG = "http://www.w3.org/2000/svg";
      const node = document.createElementNS(SVG, "svg");
      const x = (at) => 4 + (at / Math.max(1, this.last)) * 232, y = (value) => 24 - ((value - low) / (high - low ||
        1)) * 20;
      const add = (name, attributes) => {
        const part = document.createElementNS(SVG, name);
        for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
        node.append(part);
      };
      for (const [key, value] of Object.entries({ viewBox: "0 0 240 28", class: "spark", role: "img",
        "aria-label": `from ${low} to ${high}` })) node.setAttribute(key, value);
      if (values.some((value) => !Number.isFinite(value))) return "";
      for (const fault of this.bug.faults) add("line", { x1: x(fault), x2: x(fault), y1: 0, y2: 28,
        class: "fault-line" });
      add("polyline", { points: values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ") });
      add("circle", { cx: x(this.at), cy: y(values[this.at]), r: 3.5 });
      return node;
    }
  }

  const viewers = data.map((record, number) => {
    const root = document.getElementById(`r${number}-viewer`);
    if (!root || !record.bugs.length) return null;
    const viewer = new (record.kind === "model" ? RunViewer : CourseViewer)(root, record, number);
    viewer.shown = false;
    return viewer;
  });

  // Viewers of other records are drawn when somebody comes near them.
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      const viewer = viewers.find((each) => each && each.root === entry.target);
      if (viewer && !viewer.shown) open(viewer,
        viewer.record.bugs.findIndex((bug) => bug.id === viewer.root.dataset.first));
    }
  }, { rootMargin: "600px" });
  viewers.filter(Boolean).forEach((viewer) => near.observe(viewer.root));

  function open(viewer, index) {
    viewer.shown = true;
    viewer.show(Math.max(0, index));
  }

  function follow() {
    const [, number, id] = /^#r(\d+)-bug-(.+)$/.exec(location.hash) || [];
    const viewer = number === undefined ? null : viewers[Number(number)];
    const index = viewer ? viewer.record.bugs.findIndex((bug) => bug.id === decodeURIComponent(id)) : -1;
    if (index < 0) return;
    open(viewer, index);
    viewer.root.scrollIntoView({ block: "start" });
    viewer.title.focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);
  follow();

  for (const filter of document.querySelectorAll("input.filter")) {
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase();
      for (const row of document.querySelectorAll(`#${filter.dataset.table} tbody tr`)) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      showAllRows(filter.closest("details"));
    });
  }
  showAllRows(document);
})();
