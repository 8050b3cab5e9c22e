import { useEffect, useState } from "react";
import { createKey } from "../../api/sending.ts";
import { REPLIES } from "../../session/kept-texts.ts";
import { useSession } from "../../session/session-context.ts";
import { createStore, useStore } from "../../settings/create-store.ts";
import { type Place, requestAction } from "./comments-api.ts";
import {
  asked,
  failed,
  isOutdated,
  parseReplies,
  type Replies,
  type Reply,
  replyTo,
  withReply,
} from "./replies.ts";

const store = createStore<{ readonly name: string; readonly replies: Replies }>({
  name: "",
  replies: {},
});

function read(name: string): void {
  try {
    store.set({ name, replies: parseReplies(localStorage.getItem(name)) });
  } catch {
    store.set({ name, replies: {} });
  }
}

function keep(id: string, reply: Reply): void {
  const { name, replies } = store.get();
  const next = withReply(replies, id, reply);
  store.set({ name, replies: next });
  try {
    localStorage.setItem(name, JSON.stringify(next));
  } catch {
    // Without storage a reply is kept until the page is closed.
  }
}

/** The replies of a workspace, kept in this browser and the same in all of its tabs. */
function useKeptReplies(): Replies {
  const name = `${REPLIES}${useSession().workspace.id}`;
  if (store.get().name !== name) read(name);
  useEffect(() => {
    const follow = ({ key }: StorageEvent) => {
      if (key === name) read(name);
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [name]);
  return useStore(store).replies;
}

/** What is written to one comment, and the way to send it. */
export function useReply(id: string, place: Place) {
  const fresh = useState(createKey)[0];
  const reply = replyTo(useKeptReplies(), id, fresh);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    // Kept before it is sent, so that a page that is closed meanwhile can ask for its result.
    const sent = asked(reply, createKey());
    keep(id, sent);
    try {
      const body = { type: "reply", text: sent.text } as const;
      const { id: actionId } = await requestAction(place, body, sent.key);
      keep(id, { text: "", key: createKey(), isAsked: false, actionId });
    } catch (caught) {
      setError(caught);
      keep(id, failed(reply, sent, caught, createKey()));
    } finally {
      setBusy(false);
    }
  };
  return {
    reply,
    isBusy,
    error,
    isOutdated: !isBusy && isOutdated(reply),
    write: (text: string) => keep(id, { ...reply, text }),
    /** Puts a reply that was not carried out back into the field. */
    writeAgain: (text: string) => keep(id, { ...reply, text, actionId: undefined }),
    /** Gives up the request without an answer, so that the text can be changed. */
    free: () => {
      setError(undefined);
      keep(id, { ...reply, key: createKey(), isAsked: false });
    },
    send: () => void send(),
  };
}
