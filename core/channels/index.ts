/** Accounts of chat platforms and what belongs to them. */

export { placeOf } from "./account-lane.ts";
export { readAccounts } from "./account-settings.ts";
export { type AccountReport, type Accounts, createAccounts } from "./accounts.ts";
export type { AwayAccount } from "./away.ts";
export type { Contact } from "./connection/contact.ts";
export { probeAccount } from "./connection/probe.ts";
export { retryPolicy, sleep, unlimitedRetryWait, waitBefore } from "./connection/retry.ts";
export { reasonOfStatus } from "./connection/status-detail.ts";
export { completeMedia, removeOldMedia } from "./inbound-media.ts";
export type { LiveAccount } from "./live-account.ts";
export { createMigrations, type Migrations } from "./migration.ts";
export { createOwnMessages } from "./own-messages.ts";
export { placePress } from "./press-place.ts";
