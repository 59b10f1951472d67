/** Accounts of chat platforms and what belongs to them. */

export { placeOf } from "./account-lane.ts";
export { readAccounts } from "./account-settings.ts";
export { type AccountReport, type Accounts, createAccounts } from "./accounts.ts";
export type { AwayAccount } from "./away.ts";
export { openAccountSecrets } from "./connection/account-secrets.ts";
export { createReportSent } from "./connection/after-receipt.ts";
export type { Contact } from "./connection/contact.ts";
export { fitButtons } from "./connection/fit-buttons.ts";
export { platformProblem, readPlatformFields } from "./connection/platform-fields.ts";
export { probeAccount } from "./connection/probe.ts";
export { closedWindow } from "./connection/reach.ts";
export { retryPolicy, sleep, unlimitedRetryWait, waitBefore } from "./connection/retry.ts";
export { actionProblem } from "./connection/sign-in-action.ts";
export { reasonOfStatus } from "./connection/status-detail.ts";
export { completeMedia, removeOldMedia } from "./inbound-media.ts";
export type { LiveAccount } from "./live-account.ts";
export { createMigrations, type Migrations } from "./migration.ts";
export { createOwnMessages } from "./own-messages.ts";
export { placePress } from "./press-place.ts";
export { type AccountRoutes, createAccountRoutes } from "./routes/account-routes.ts";
export { createFindRoute, type FindRoute } from "./routes/find-route.ts";
export { createDeletions, type Deletions, deletedSilent, isDeletion } from "./writer/deletions.ts";
export { createEdits, type Edits, editedMessages } from "./writer/edits.ts";
export { createStoredMessages, type StoredMessages } from "./writer/stored-message.ts";
