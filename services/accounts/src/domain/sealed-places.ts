/**
 * Returns the storage place of an account's token. The place is part of the encryption (seal): a token that was sealed
 * for one place cannot be unsealed for another.
 */
export function placeOfToken(accountId: string, column: "access_token" | "refresh_token") {
  return { table: "credentials", rowId: accountId, column } as const;
}

/**
 * Returns the storage place of an authorization's code verifier. The place is part of the encryption (seal): the code
 * verifier cannot be unsealed for another authorization.
 */
export function placeOfCodeVerifier(authorizationId: string) {
  return { table: "oauth_tickets", rowId: authorizationId, column: "code_verifier" } as const;
}
