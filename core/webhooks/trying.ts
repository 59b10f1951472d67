/** What only the console and commands need that try deliveries, and a gateway without them does not load. */
export { readRefusals } from "./endpoint/refusals.ts";
export { fixtureOf, readFixture } from "./mapping/fixture.ts";
export { type DryRun, dryRun } from "./workbench/dry-run.ts";
export { deliveryOfStored } from "./workbench/stored-delivery.ts";
