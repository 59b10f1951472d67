/** Access control: who may write, where, and with which role. */

export { type IdentityRule, identityRule, ignoredEntries, misnamedGroups, parseAllowlist, parseAllowlistEntry } from "./allowlist.ts";
export { approvedText, namesOwner } from "./approving.ts";
export { buttonScope } from "./button-scope.ts";
export { createGate, type Gate } from "./gate.ts";
export { createPairing } from "./pairing.ts";
export { type AccountAccess, groupKey, openPlaces, type PathOf, type PlaceSettings, placeSettings } from "./place.ts";
export { settingPath } from "./setting-path.ts";
