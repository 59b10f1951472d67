/** Where the store keeps requests for approval, their codes, the grants and the counts of questions. */
export const approvalsNamespace = "approvals";
