import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import { fetchCredential, type AccountRef } from "#src/clients/accounts.ts";
import { withCredential, type AccessDeps, type Answered } from "#src/operations/with-credential.ts";

/** The calls share a credential that is read once; each has its own deadline. */
export class PlatformCalls {
  readonly #deps: AccessDeps;
  readonly #account: AccountRef;
  #credential: Credential;
  readonly #timeoutMs: number;

  private constructor(
    deps: AccessDeps,
    account: AccountRef,
    options: { readonly credential: Credential; readonly timeoutMs: number },
  ) {
    this.#deps = deps;
    this.#account = account;
    this.#credential = options.credential;
    this.#timeoutMs = options.timeoutMs;
  }

  static async open(
    deps: AccessDeps,
    account: AccountRef,
    timeoutMs: number,
  ): Promise<PlatformCalls> {
    const credential = await fetchCredential(deps.accounts, account);
    return new PlatformCalls(deps, account, { credential, timeoutMs });
  }

  async make<T extends { readonly kind: string }>(
    call: (access: AccountAccess, signal: AbortSignal) => Promise<T>,
  ): Promise<Answered<T>> {
    return await withCredential(this.#deps, this.#account, this.#credential, (credential) => {
      // The next calls use a credential that was renewed for this call, too.
      this.#credential = credential;
      return call(credential, AbortSignal.timeout(this.#timeoutMs));
    });
  }
}
