import type { AuthorizationCodes } from "#src/oauth/codes.ts";

export function redeemForm(
  codes: AuthorizationCodes,
  form: URLSearchParams,
  clientId: string,
  now: number,
): { readonly account: string; readonly scopes: readonly string[] } | undefined {
  const text = (name: string): string => form.get(name) ?? "";
  const redemption = {
    code: text("code"),
    clientId,
    redirectUri: text("redirect_uri"),
    codeVerifier: text("code_verifier"),
  };
  const approval = codes.redeem(redemption, now);
  const [account] = approval?.accounts ?? [];
  return approval === undefined || account === undefined
    ? undefined
    : { account, scopes: approval.scopes };
}
