/**
 * A line about replies that may have arrived, and are sent once more when the platform answers another call; empty if
 * there are none.
 */
export function waitingLine(waitingSends = 0): string {
  if (waitingSends === 0) return "";
  return (
    `${waitingSends} ` +
    `${waitingSends === 1 ? "send with an unknown outcome waits" : "sends with an unknown outcome wait"} ` +
    "for the platform to answer"
  );
}
