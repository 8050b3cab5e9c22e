import {
  findContext,
  type RequestContext,
  runInContext,
  shareContext,
} from "@postrider/shared/telemetry/request-context";

/** @param key Names what is read, and the workspace. */
export type SharedReads<T> = (key: string, read: () => Promise<T>) => Promise<T>;

interface Waiting<T> {
  readonly contexts: (RequestContext | undefined)[];
  readonly answer: Promise<T>;
}

/**
 * Equal reads share calls: all open pages of a workspace read the same after the same hint. What is
 * asked while a call is under way is answered by the next one, because the first may have read
 * before the change of which the caller knows. A read that is alone is not delayed.
 */
export function createSharedReads<T>(): SharedReads<T> {
  const underWay = new Map<string, Promise<T>>();
  const waiting = new Map<string, Waiting<T>>();
  const begin = (key: string, read: () => Promise<T>, contexts: Waiting<T>["contexts"]) => {
    const context = shareContext(contexts);
    const call = context === undefined ? read() : runInContext(context, read);
    underWay.set(key, call);
    const end = () => underWay.delete(key);
    call.then(end, end);
    return call;
  };
  return (key, read) => {
    const context = findContext();
    const next = waiting.get(key);
    if (next !== undefined) {
      next.contexts.push(context);
      return next.answer;
    }
    const current = underWay.get(key);
    if (current === undefined) return begin(key, read, [context]);
    const contexts = [context];
    const go = () => {
      waiting.delete(key);
      return begin(key, read, contexts);
    };
    const answer = current.then(go, go);
    waiting.set(key, { contexts, answer });
    return answer;
  };
}
