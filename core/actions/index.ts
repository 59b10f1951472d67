/** Actions that agents and programs can perform in chats. */
export { createEnds } from "./ends.ts";
export { sayingEvent, tapNotices } from "./events.ts";
export { createReplyTools } from "./reply-tools.ts";
export { type ActionRunner, createActionRunner } from "./run.ts";
export { createActionTools } from "./tools.ts";
