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

/** Between the beginnings of equal calls. */
const GAP_MS = 25;

/**
 * Equal reads share calls: all open pages of a workspace read the same after the same hint. What is
 * asked while a call is under way, or soon after it began, is answered by the next one, because the
 * first may have read before the change of which the caller knows. A read that is alone is not
 * delayed.
 */
export function createSharedReads<T>(): SharedReads<T> {
  const underWay = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Waiting<T>>();
  const begin = (key: string, read: () => Promise<T>, contexts: Waiting<T>["contexts"]) => {
    const context = shareContext(contexts);
    const call = context === undefined ? read() : runInContext(context, read);
    const gap = new Promise((resolve) => setTimeout(resolve, GAP_MS));
    const over = Promise.allSettled([call, gap]);
    underWay.set(key, over);
    void over.then(() => underWay.delete(key));
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
    const answer = current.then(go);
    waiting.set(key, { contexts, answer });
    return answer;
  };
}
