/** Access control: who may write, where, and with which role. */

export { configuredForms, ignoredEntries, misnamedGroups, parseAllowlist, parseAllowlistEntry } from "./allowlist.ts";
export { namesOwner, welcome } from "./approving.ts";
export { type BotTurns, createBotTurns } from "./bot-turns.ts";
export { buttonScope } from "./button-scope.ts";
export { createGate, type Gate } from "./gate.ts";
export { type CalledIdentity, type IdentityRule, identityRule } from "./identity.ts";
export { createIdentityLinks, type IdentityLinks } from "./links/identity-links.ts";
export { type LinkedPerson, type LinkRefusal, writtenId } from "./links/people.ts";
export { createLinkRequests, type LinkEnd, type LinkRequests } from "./links/requests.ts";
export {
  knownChat,
  type OwnedAccount,
  type OwnerChat,
  type OwnersAsked,
  ownerChatKey,
  ownerChats,
  placeOwners,
  unplacedHint,
} from "./owner-places.ts";
export { createPairing, type Pairing } from "./pairing.ts";
export {
  type AccountAccess,
  groupKey,
  groupKeysOf,
  openPlaces,
  type PathOf,
  type PlaceSettings,
  placeSettings,
} from "./place.ts";
export { channelMeant, type NamedChannel } from "./platform-names.ts";
export { settingPath } from "./setting-path.ts";
export { createStrangerIds, type StrangerIds } from "./stranger-ids.ts";
