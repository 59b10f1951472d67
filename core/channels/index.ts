/** Accounts of chat platforms and what belongs to them. */

export { placeOf } from "./account-lane.ts";
export { readAccounts } from "./account-settings.ts";
export { type AccountReport, type Accounts, createAccounts } from "./accounts.ts";
export type { Contact } from "./contact.ts";
export { completeMedia, removeOldMedia } from "./inbound-media.ts";
export type { LiveAccount } from "./live-account.ts";
export { createMigrations, type Migrations } from "./migration.ts";
export { placePress } from "./press-place.ts";
export { probeAccount } from "./probe.ts";
export { patientWait, retryPolicy, sleep, waitBefore } from "./retry.ts";
export { reasonOfStatus } from "./status-detail.ts";
