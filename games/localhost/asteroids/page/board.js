// The scores in the corner.
let shown = "";

// board writes the rows, best first: {name, colour, note, score, me}.
export function board(rows) {
  const list = document.getElementById("board");
  const text = JSON.stringify(rows);
  if (shown === text) return;
  shown = text;
  list.replaceChildren(...rows.map((row) => {
    const li = document.createElement("li");
    li.classList.toggle("me", row.me);
    const name = document.createElement("span");
    name.textContent = row.name;
    name.style.color = row.colour;
    const note = document.createElement("i");
    note.textContent = row.note;
    note.style.color = row.colour;
    const score = document.createElement("b");
    score.textContent = row.score;
    li.append(name, note, score);
    return li;
  }));
}
