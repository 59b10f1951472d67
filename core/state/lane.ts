/** Names of lanes. */

/** Marks a lane in which control commands run, so that they never wait behind a turn. No session key contains a tab. */
export const controlSuffix = "\tcontrol";
