/** Where a token of an account is kept: what was sealed for it opens nowhere else. */
export function placeOfToken(accountId: string, column: "access_token" | "refresh_token") {
  return { table: "credentials", rowId: accountId, column } as const;
}
