/** The log is one stop of the Tab key: up and down choose a message, left and right its controls, Escape goes back. */

const controls = "a, button, pre, audio, video, [role=button]";

export function createStops(log) {
  const isShown = (node) => node.offsetParent !== null;

  /** One message is in the tab order: the one that had the focus last, else the newest. What is in a message is reached by arrows. */
  function settle() {
    const articles = [...log.querySelectorAll("article")];
    const chosen =
      articles.find((one) => one.contains(document.activeElement)) ?? articles.findLast((one) => one.tabIndex === 0) ?? articles.at(-1);
    for (const one of articles) one.tabIndex = one === chosen ? 0 : -1;
    for (const one of log.querySelectorAll(controls)) one.tabIndex = -1;
    // Nothing in the log has a message around it yet, such as the button of an empty chat.
    if (articles.length === 0) for (const one of log.querySelectorAll("button")) one.tabIndex = 0;
  }

  log.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const article = event.target.closest("article");
    // Code scrolls and sound seeks by the same keys.
    if (step === undefined || article === null || event.target.closest("pre, audio, video") !== null) return;
    const inside = [...article.querySelectorAll(controls)].filter(isShown);
    const at = inside.indexOf(event.target);
    const next = at === -1 ? inside.at(step === 1 ? 0 : -1) : inside[at + step];
    event.preventDefault();
    next?.focus();
  });

  log.addEventListener("focusin", (event) => {
    const article = event.target.closest("article");
    if (article === null) return;
    for (const one of log.querySelectorAll("article")) one.tabIndex = one === article ? 0 : -1;
  });

  // A touch has no pointer that rests on a message: it chooses the message, which shows its tools.
  log.addEventListener("click", (event) => {
    if (event.target.closest(controls) === null) event.target.closest("article")?.focus({ preventScroll: true });
  });

  return { settle };
}
