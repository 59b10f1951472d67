/**
 * Keyboard navigation of the log, which is a single stop of the Tab key: up and down select a message, left and right
 * its controls, Escape goes back.
 */

const controls = "a, button, pre, audio, video, [role=button]";

export function createStops(log) {
  const isShown = (node) => node.offsetParent !== null;

  /**
   * Puts one message into the tab order: the one that last had the focus, else the newest. Its controls are reached
   * with the arrow keys.
   */
  function settle() {
    const articles = [...log.querySelectorAll("article")];
    const chosen =
      articles.find((one) => one.contains(document.activeElement)) ??
      articles.findLast((one) => one.tabIndex === 0) ??
      articles.at(-1);
    for (const one of articles) one.tabIndex = one === chosen ? 0 : -1;
    for (const one of log.querySelectorAll(controls)) one.tabIndex = -1;
    // Without messages, the log's own buttons are in the tab order, such as that of an empty chat.
    if (articles.length === 0) for (const one of log.querySelectorAll("button")) one.tabIndex = 0;
  }

  log.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const article = event.target.closest("article");
    // These keys also scroll code and seek in audio.
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

  // Touch devices have no hover, so a tap selects the message, which shows its tools.
  log.addEventListener("click", (event) => {
    if (event.target.closest(controls) === null) event.target.closest("article")?.focus({ preventScroll: true });
  });

  return { settle };
}
