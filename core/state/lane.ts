/** Names of lanes. */

/** Marks the lane in which control commands run, so that they never wait for a turn. Session keys contain no tab. */
export const controlSuffix = "\tcontrol";
