// Draws states: places, things in them and on each other, from the facts of a state and the scene of its task.
"use strict";

const Drawer = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const LINE = 14, PAD = 6, GAP = 8, WIDEST = 520, FLOOR = 360, LABEL = 18;
  const KINDS = 6, FILLED_MARKS = 2, WANTED = "○", MOST_MEASURED = 300, ROOM = 3 * GAP, MOST_ROUNDS = 300;

  function svg(name, attributes, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    for (const child of children) node.append(child);
    return node;
  }

  // How wide a text is: letters differ, and what does not fit into its box cannot be read.
  const pen = document.createElement("canvas").getContext("2d"), measured = new Map();
  const FONT = "ui-sans-serif, system-ui, sans-serif";
  const FONTS = { label: `600 11px ${FONT}`, token: `600 11px ${FONT}`, goal: `600 11px ${FONT}`,
    unmet: `11px ${FONT}` };

  function widthOf(text, kind) {
    const key = `${kind} ${text}`;
    if (!measured.has(key)) {
      pen.font = FONTS[kind] || `10px ${FONT}`;
      measured.set(key, Math.ceil(pen.measureText(text).width) + (kind === "token" ? 10 : 0));
    }
    return measured.get(key);
  }

  function short(text, most) {
    return text.length <= most ? text : text.slice(0, most - 6) + "…" + text.slice(-5);
  }

  function words(name) {
    if (!name || name[0] !== "(") return null;
    const [predicate, ...objects] = name.slice(1, -1).split(" ");
    return { predicate, objects };
  }

  // What is where in one state: the tree of things, and what is written at each.
  class Picture {
    constructor() {
      this.parent = new Map();
      this.children = new Map();
      this.lines = new Map();
      this.marks = new Map();
      this.tokens = new Map();
      this.links = [];
      this.texts = [];
    }
    put(thing, where, how) {
      for (let at = where; at !== undefined; at = this.parent.get(at)?.where) if (at === thing) return false;
      if (this.parent.has(thing)) return false;
      this.parent.set(thing, { where, how });
      if (!this.children.has(where)) this.children.set(where, []);
      this.children.get(where).push({ thing, how });
      return true;
    }
    write(thing, text, kind) {
      if (!this.lines.has(thing)) this.lines.set(thing, []);
      this.lines.get(thing).push({ text: short(text, 26), kind });
    }
    // All that is shown of a thing, to see what a step changed.
    shown(thing) {
      const where = this.parent.get(thing);
      const isGoal = (line) => line.kind === "goal" || line.kind === "unmet";
      const lines = (this.lines.get(thing) || []).filter((line) => !isGoal(line)).map((line) => line.text);
      return JSON.stringify([where?.where, where?.how, lines, this.marks.get(thing), this.tokens.get(thing)]);
    }
  }

  class Drawer {
    constructor(record) {
      this.scene = record.scene;
      this.facts = record.facts.map((values) => values.map(words));
      this.goal = [];
      for (let i = 0; i < record.goal.length; i += 2) {
        const fact = words(record.facts[record.goal[i]][record.goal[i + 1]]);
        this.goal.push({ variable: record.goal[i], value: record.goal[i + 1], fact });
      }
      this.places = new Map(this.scene.places.map(([name], at) => [name, at]));
      this.across = 1 + Math.max(0, ...this.scene.places.map(([, x]) => x));
      this.held = Object.values(this.scene.roles).filter(([kind]) => kind === "held").map(([kind, , , label]) => [kind,
        label]);
      const marks = Object.entries(this.scene.roles).filter(([, role]) => role[0] === "mark").map(([name]) => name);
      this.filled = marks.filter((name) => this.facts.flat().some(
        (fact) => fact && fact.predicate === name && this.places.has(fact.objects[0]))).slice(0, FILLED_MARKS);
    }

    role(predicate) {
      return Object.hasOwn(this.scene.roles, predicate) ? this.scene.roles[predicate] : ["tag", 0, 1, predicate];
    }

    picture(state) {
      const picture = new Picture();
      for (const [thing, where] of Object.entries(this.scene.inside)) picture.put(thing, where, "in");
      state.forEach((value, variable) => {
        const fact = this.facts[variable][value];
        if (fact) this.add(picture, fact);
      });
      for (const [thing, notes] of Object.entries(this.scene.notes)) {
        for (const note of notes) picture.write(thing, note, "note");
      }
      for (const goal of this.goal) if (goal.fact) this.want(picture, goal.fact, state[goal.variable] === goal.value);
      return picture;
    }

    add(picture, fact) {
      const [kind, subject, target, label] = this.role(fact.predicate);
      const thing = fact.objects[subject];
      const rest = fact.objects.filter((_, at) => at !== subject);
      if (kind === "hidden") return;
      if (thing === undefined) picture.texts.push(label);
      else if (kind === "in" || kind === "on") {
        if (!picture.put(thing, fact.objects[target], kind)) picture.write(thing, [label, ...rest].join(" "), "tag");
      } else if (kind === "held") picture.put(thing, "held:" + label, "in");
      else if (kind === "token") {
        if (!picture.tokens.has(thing)) picture.tokens.set(thing, []);
        picture.tokens.get(thing).push(label);
      } else if (kind === "mark" && this.places.has(thing) && this.filled.includes(fact.predicate)) {
        if (!picture.marks.has(thing)) picture.marks.set(thing, []);
        picture.marks.get(thing).push(fact.predicate);
      } else if (kind === "link") picture.links.push([thing, fact.objects[target], label]);
      else picture.write(thing, [label, ...rest].join(" "), "tag");
    }

    want(picture, fact, holds) {
      const [kind, subject, target, label] = this.role(fact.predicate);
      const thing = fact.objects[subject];
      if (thing === undefined || kind === "hidden") return;
      if (holds) {
        if (kind === "in" || kind === "on") picture.write(thing, "✓ " + fact.objects[target], "goal");
      } else if (kind === "in" || kind === "on") picture.write(thing, "→ " + fact.objects[target], "unmet");
      else if (kind === "mark" && this.places.has(thing) && this.filled.includes(fact.predicate)) picture.write(thing,
        WANTED, "unmet");
      else if (kind === "token") picture.write(thing, "→ " + label, "unmet");
      else picture.write(thing, "→ " + [label, ...fact.objects.filter((_, at) => at !== subject)].join(" "), "unmet");
    }

    // ---- sizes -----------------------------------------------------------------------------------------
    linesOf(picture, name) {
      const tokens = (picture.tokens.get(name) || []).map((text) => ({ text: short(text, 22), kind: "token" }));
      return [...tokens, ...(picture.lines.get(name) || [])];
    }

    // The box of a thing with all that is in it and on it; positions are relative to its top left corner.
    measure(picture, name, options = {}) {
      const label = short(name.replace(/^held:/, ""), LABEL);
      const isBeside = options.isBeside || false;
      const lines = this.linesOf(picture, name);
      const children = picture.children.get(name) || [];
      const rank = (child) => (this.order.has(child.thing) ? this.order.get(child.thing) : 1e9);
      const sorted = [...children].sort((a, b) => rank(a) - rank(b));
      const inner = this.flow(sorted.filter((child) => child.how === "in").map((child) => this.measure(picture,
        child.thing)), options.widest || 190);
      const above = this.flow(sorted.filter((child) => child.how === "on").map((child) => this.measure(picture,
        child.thing)), WIDEST);
      const text = Math.max(widthOf(label, "label"), ...lines.map((line) => widthOf(line.text, line.kind)));
      const aside = isBeside ? 2 * (widthOf(label, "label") + PAD) : 0;
      const width = Math.max(text + 2 * PAD, inner.width ? inner.width + 2 * PAD + aside : 0, above.width);
      const head = LINE * ((isBeside ? 0 : 1) + lines.length) + PAD;
      const height = Math.max(head + (inner.height ? inner.height + PAD : 2), isBeside ? LINE + PAD : 0);
      return { name, label, isBeside, lines, inner, above, width, height: height + above.height, base: above.height,
        head };
    }

    flow(boxes, widest) {
      let x = 0, y = 0, row = [], width = 0;
      const rows = [];
      const close = () => {
        const height = Math.max(0, ...row.map((box) => box.height));
        for (const box of row) box.y = y + height - box.height;
        y += height + GAP / 2;
        rows.push(row);
        row = [];
        x = 0;
      };
      for (const box of boxes) {
        if (x > 0 && x + box.width > widest) close();
        box.x = x;
        x += box.width + GAP / 2;
        width = Math.max(width, x - GAP / 2);
        row.push(box);
      }
      if (row.length) close();
      return { boxes, rows, width, height: boxes.length ? y - GAP / 2 : 0 };
    }

    // Looks at the states of a bug beforehand, so that nothing jumps when the slider moves.
    prepare(states) {
      const every = Math.ceil(states.length / MOST_MEASURED);
      const pictures = states.filter((_, at) => at % every === 0).map((state) => this.picture(state));
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      const objects = this.facts.flat().flatMap((fact) => (fact ? fact.objects : []));
      const names = new Set([...objects, ...Object.keys(this.scene.inside), ...Object.keys(this.scene.notes)]);
      for (const [, label] of this.held) names.add("held:" + label);
      this.order = new Map([...names].sort(compare).map((name, at) => [name, at]));
      this.roots = [...names].filter((name) => !this.places.has(name) &&
        pictures.some((picture) => !picture.parent.has(name) && this.isWorth(picture, name)));
      this.roots.sort((a, b) => a.startsWith("held:") - b.startsWith("held:") || compare(a, b));
      this.size = new Map();
      this.bases = new Set(pictures.flatMap((picture) => [...picture.children].filter(
        ([, children]) => children.some((child) => child.how === "on")).map(([name]) => name)));
      for (const name of [...this.places.keys(), ...this.roots]) {
        let width = 0, height = 0;
        for (const picture of pictures) {
          if (picture.parent.has(name)) continue;  // it is drawn elsewhere then
          const box = this.measure(picture, name, this.optionsFor(name));
          width = Math.max(width, box.width);
          height = Math.max(height, box.height);
        }
        this.size.set(name, { width, height });
      }
      this.layOut();
    }

    isWorth(picture, name) {
      return picture.children.has(name) || picture.lines.get(name)?.some((line) => line.kind !== "note") ||
        picture.links.some((link) => link.includes(name));
    }

    optionsFor(name) {
      if (name.startsWith("held:")) return { widest: this.scene.layout === "column" ? 190 : WIDEST };
      if (!this.places.has(name)) return {};
      // The name of a floor stands at its side; the cells of a grid are as wide as a panel has room for.
      if (this.scene.layout === "column") return { widest: FLOOR, isBeside: true };
      return this.scene.layout === "grid" ? { widest: Math.max(60, WIDEST / this.across - 2 * PAD) } : {};
    }

    layOut() {
      const places = this.scene.places.map(([name, x, y]) => ({ name, x, y, ...this.size.get(name) }));
      const layout = this.scene.layout;
      if (layout === "grid") this.grid(places);
      else if (layout === "map") this.map(places);
      else if (layout === "column") this.column(places);
      else this.rows(places);
      const bottom = Math.max(0, ...places.map((place) => place.y + place.height));
      this.width = Math.max(0, ...places.map((place) => place.x + place.width));
      // Beside a column there is room, below all else.
      const isBeside = layout === "column";
      const room = isBeside ? Math.max(190, WIDEST - this.width) : Math.max(WIDEST, this.width);
      const shelf = this.flow(this.roots.map((name) => ({ name, ...this.size.get(name) })), room);
      const across = isBeside ? this.width + 2 * GAP : 0, down = isBeside || !bottom ? 0 : bottom + 2 * GAP;
      for (const box of shelf.boxes) Object.assign(box, { x: box.x + across, y: box.y + down });
      this.width = Math.max(this.width, shelf.width && across + shelf.width, 160);
      this.height = Math.max(bottom, shelf.height && down + shelf.height, 40);
      this.boxes = [...places, ...shelf.boxes];
    }

    grid(places) {
      const width = Math.max(46, ...places.map((place) => place.width)), height = Math.max(40,
        ...places.map((place) => place.height));
      for (const place of places) Object.assign(place, { x: place.x * width, y: place.y * height, width, height });
    }

    map(places) {
      const across = Math.max(...places.map((place) => place.x)), down = Math.max(...places.map((place) => place.y));
      if (innerWidth < 720 && across > down) for (const place of places) [place.x, place.y] = [place.y, place.x];
      const area = places.reduce((sum, place) => sum + (place.width + ROOM) * (place.height + ROOM), 0);
      const scale = Math.max(40, Math.sqrt((1.5 * area) / Math.max(across * down, 1)));
      const small = places.map((place) => ({ ...place, x: place.x * scale, y: place.y * scale }));
      const large = this.largestScale(places);
      const isApart = scale < large && this.pushApart(small);
      places.forEach((place, at) => {
        const [x, y] = isApart ? [small[at].x, small[at].y] : [place.x * large, place.y * large];
        Object.assign(place, { x: x - place.width / 2, y: y - place.height / 2 });
      });
      const left = Math.min(...places.map((place) => place.x)), top = Math.min(...places.map((place) => place.y));
      for (const place of places) Object.assign(place, { x: place.x - left, y: place.y - top });
    }

    // At this scale no place lies on another one, without moving any of them.
    largestScale(places) {
      let scale = 40;
      places.forEach((a, at) => places.slice(at + 1).forEach((b) => {
        const across = ((a.width + b.width) / 2 + ROOM) / Math.max(Math.abs(a.x - b.x), 1e-3);
        const down = ((a.height + b.height) / 2 + ROOM) / Math.max(Math.abs(a.y - b.y), 1e-3);
        scale = Math.max(scale, Math.min(across, down));
      }));
      return scale;
    }

    // Moves places that lie on each other apart, each as little as possible, so that the whole map fits on a
    // screen; whether that worked.
    pushApart(places) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        let isApart = true;
        places.forEach((a, at) => places.slice(at + 1).forEach((b) => {
          const across = (a.width + b.width) / 2 + ROOM - Math.abs(a.x - b.x);
          const down = (a.height + b.height) / 2 + ROOM - Math.abs(a.y - b.y);
          if (across < 0.5 || down < 0.5) return;
          isApart = false;
          const axis = across < down ? "x" : "y";
          const by = (Math.min(across, down) / 2) * (a[axis] <= b[axis] ? 1 : -1);
          a[axis] -= by;
          b[axis] += by;
        }));
        if (isApart) return true;
      }
      return false;
    }

    column(places) {
      const width = Math.max(200, ...places.map((place) => place.width));
      let y = 0;
      for (const place of [...places].reverse()) {
        Object.assign(place, { x: 0, y, width });
        y += place.height;
      }
    }

    rows(places) {
      for (const place of places) place.height = Math.max(place.height, 40);
      for (const row of this.flow(places, WIDEST).rows) {
        const y = Math.min(...row.map((box) => box.y)), height = Math.max(...row.map((box) => box.height));
        for (const box of row) Object.assign(box, { y, height });
      }
    }

    // ---- drawing ---------------------------------------------------------------------------------------
    draw(picture, changed, title) {
      const margin = 4;
      const view = `${-margin} ${-margin} ${this.width + 2 * margin} ${this.height + 2 * margin}`;
      const root = svg("svg", { viewBox: view, role: "img", "aria-label": title, class: "scene" });
      root.style.maxWidth = `${Math.ceil((this.width + 2 * margin) * 1.25)}px`;
      root.style.minWidth = `${Math.floor(this.width * 0.6)}px`;  // smaller letters cannot be read: one scrolls then
      const at = new Map(this.boxes.map((box) => [box.name, box]));
      const middle = (name) => [at.get(name).x + at.get(name).width / 2, at.get(name).y + at.get(name).height / 2];
      for (const [from, to, label] of this.scene.edges) this.edge(root, middle(this.scene.places[from][0]),
        middle(this.scene.places[to][0]), label, "way");
      for (const box of this.boxes) {
        const measured = this.measure(picture, box.name, this.optionsFor(box.name));
        if (!this.places.has(box.name) && (picture.parent.has(box.name) || !this.isWorth(picture, box.name)) &&
          !box.name.startsWith("held:")) continue;
        this.place(root, picture, box, measured, changed);
      }
      for (const [from, to, label] of picture.links) if (at.has(from) && at.has(to)) this.edge(root, middle(from),
        middle(to), label, "link");
      return root;
    }

    edge(root, [x1, y1], [x2, y2], label, kind) {
      root.append(svg("line", { x1, y1, x2, y2, class: kind }));
      if (!label) return;
      const text = svg("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 + 4, class: "way-label", "text-anchor": "middle" },
        short(label, 12));
      root.append(text);
    }

    // A place or a root fills its own box, whatever is in it now.
    place(root, picture, box, measured, changed) {
      const marks = (picture.marks.get(box.name) || []).map((name) => ` mark${this.filled.indexOf(name)}`);
      const group = svg("g", { transform: `translate(${box.x} ${box.y})` });
      const base = this.bases.has(box.name) ? box.height - (measured.height - measured.base) : 0;
      const held = box.name.startsWith("held:") ? " held" : "";
      const kind = this.places.has(box.name) || held ? "place" : this.kind(box.name);
      const moved = changed.has(box.name) && kind !== "place" ? " moved" : "";
      group.append(svg("title", {}, box.name.replace(/^held:/, "")));
      const frame = svg("rect", { width: box.width, height: box.height - base, y: base,
        rx: this.scene.layout === "grid" && kind === "place" ? 0 : 5, class: kind + held + (marks[0] || "") + moved });
      group.append(frame);
      if (marks.length > 1) group.append(svg("rect", { x: box.width / 2, y: base + 1, width: box.width / 2 - 1,
        height: box.height - base - 2, class: "half" + marks[1] }));
      this.contents(group, picture, { ...measured, width: box.width }, changed, base,
        kind === "place" ? "place-label" : "label", box.height - base);
      root.append(group);
    }

    contents(group, picture, box, changed, base, labelClass, height) {
      const centre = box.width / 2;
      group.append(svg("text", { x: box.isBeside ? PAD : centre, y: base + LINE, class: labelClass,
        "text-anchor": box.isBeside ? "start" : "middle" }, box.label));
      box.lines.forEach((line, at) => {
        const y = base + LINE * (at + (box.isBeside ? 1 : 2));
        if (line.kind === "token") {
          const wide = widthOf(line.text, "token");
          group.append(svg("rect", { x: centre - wide / 2, y: y - 10, width: wide, height: LINE - 1, rx: 6,
            class: changed.has(box.name) ? "token moved" : "token" }));
        }
        group.append(svg("text", { x: centre, y, "text-anchor": "middle", class: line.kind }, line.text));
      });
      const left = (box.width - box.inner.width) / 2;
      // Things stand on the ground of what they are in.
      const top = Math.max(box.head, height - box.inner.height - PAD);
      for (const child of box.inner.boxes) this.thing(group, picture, child, left + child.x, base + top + child.y,
        changed);
      const side = (box.width - box.above.width) / 2;
      for (const child of box.above.boxes) this.thing(group, picture, child, side + child.x,
        base - box.above.height + child.y, changed);
    }

    thing(parent, picture, box, x, y, changed) {
      const group = svg("g", { transform: `translate(${x} ${y})` });
      const height = box.height - box.base;
      group.append(svg("title", {}, box.name));
      const frame = svg("rect", { y: box.base, width: box.width, height, rx: 4,
        class: this.kind(box.name) + (changed.has(box.name) ? " moved" : "") });
      const colour = Object.hasOwn(this.scene.colours, box.name) ? this.scene.colours[box.name] : "";
      if (/^#[0-9a-f]{6}$/i.test(colour)) frame.style.fill = colour;
      group.append(frame);
      this.contents(group, picture, box, changed, box.base, "label", height);
      parent.append(group);
    }

    kind(name) {
      const kind = Object.hasOwn(this.scene.kinds, name) ? this.scene.kinds[name] : 0;
      return "thing kind" + (kind % KINDS);
    }

    // The words for filled marks, and facts that are drawn nowhere.
    legend(picture, before) {
      const wanted = this.goal.filter(({ fact }) => fact &&
        this.filled.includes(fact.predicate)).map(({ fact }) => this.role(fact.predicate)[3]);
      const words = [...new Set(wanted)].map((label) => [`${WANTED} not yet ${label}`, ""]);
      const old = before ? before.texts : picture.texts;
      const texts = picture.texts.map((text) => [text, old.includes(text) ? "" : "new"]);
      const gone = old.filter((text) => !picture.texts.includes(text)).map((text) => [text, "gone"]);
      return { marks: this.filled.map((name, at) => [this.role(name)[3], at]), texts: [...words, ...texts, ...gone] };
    }

    // Whether two drawings fit side by side on a wide screen.
    get isWide() {
      return this.width > 620 && this.width > 1.6 * this.height;
    }

    changed(before, after) {
      const found = new Set();
      if (!before) return found;
      for (const name of this.order.keys()) if (before.shown(name) !== after.shown(name)) found.add(name);
      return found;
    }
  }
  return Drawer;
})();
