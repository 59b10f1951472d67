/** The errors that the platform returns instead of a result. */
export class ApiError extends Error {
  readonly code: number;
  readonly parameters: Readonly<Record<string, number>> | undefined;

  constructor(code: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export function badRequest(what: string): ApiError {
  return new ApiError(400, `Bad Request: ${what}`);
}

export function forbidden(what: string): ApiError {
  return new ApiError(403, `Forbidden: ${what}`);
}

export function conflict(what: string): ApiError {
  return new ApiError(409, `Conflict: ${what}`);
}

export function tooMany(retryAfter: number): ApiError {
  return new ApiError(429, `Too Many Requests: retry after ${retryAfter}`, { retry_after: retryAfter });
}
