/** What operators read of the state. The command line imports single files, so that it loads only what it needs. */
export { endAct, readActs, recordAct } from "./acts.ts";
export { deliveryData, findDelivery, readDeliveries } from "./deliveries.ts";
export { eventData, readEvents } from "./events.ts";
export { findFailed, groupFailed, runAgain } from "./failed.ts";
export { findByPrefix } from "./find-event.ts";
export { type ListedHooks, listedHooks } from "./hooks.ts";
export { fits, logFile, readPast, severities } from "./logs.ts";
export { gatherModels } from "./models.ts";
export { parsePlatformId } from "./platform-id.ts";
export { readSessions, readShown, shownData } from "./sessions.ts";
export { readWork } from "./status.ts";
export { printStory, readStory, type Story, storyData } from "./story.ts";
export { createTextPage } from "./text-page.ts";
export { groupings, readUsage } from "./usage.ts";
