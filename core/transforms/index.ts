/** Runs users' own code for webhooks in a sandbox. */

export { checkModule } from "./check.ts";
export { withPlace } from "./error.ts";
export { freezeJson, renderAnswer } from "./guest/answer.ts";
export { resolveTransformsRoot } from "./root.ts";
export { createTransforms, type Transforms } from "./sandbox.ts";
