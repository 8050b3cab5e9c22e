import type { InboxCommentJson } from "@postrider/rest/dashboard/inbox";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { commentsApi } from "./comments-api.ts";
import { toFilter, type View } from "./filters.ts";

interface Known {
  readonly list: string;
  readonly ids: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The comments of a view, newest first. New ones wait behind a button, so that no row moves under
 * the pointer.
 */
export function useInbox(view: View) {
  const filter = toFilter(view);
  const query = useInfiniteQuery(commentsApi.inbox(filter));
  const { data } = query;
  const comments = useMemo(() => data?.pages.flatMap((page) => page.comments) ?? [], [data]);
  const list = JSON.stringify(filter);
  const [known, setKnown] = useState<Known>({ list, ids: NONE });
  const ids = known.list === list ? known.ids : NONE;
  const shown = useMemo(() => {
    const last = comments.findLastIndex(({ id }) => ids.has(id));
    return comments.filter(({ id }, index) => ids.has(id) || index > last);
  }, [comments, ids]);
  if (known.list !== list || shown.some(({ id }) => !ids.has(id)))
    setKnown({ list, ids: new Set([...ids, ...shown.map(({ id }) => id)]) });
  return {
    ...query,
    comments: shown,
    newCount: comments.length - shown.length,
    showNew: () => setKnown({ list, ids: new Set(comments.map(({ id }) => id)) }),
    open: data?.pages[0]?.open,
    readAt: data?.pages[0]?.readAt,
  };
}

/**
 * The comment of the address. It stays when it leaves the list, such as after the reply to it: the
 * newest comments of all states have it then.
 */
export function useSelected(
  id: string | undefined,
  comments: readonly InboxCommentJson[],
): { readonly comment: InboxCommentJson | undefined; readonly isGone: boolean } {
  const has = (comment: InboxCommentJson) => comment.id === id;
  const listed = comments.find(has);
  const isElsewhere = id !== undefined && listed === undefined;
  const newest = useQuery({ ...commentsApi.newest(), enabled: isElsewhere });
  const found = listed ?? newest.data?.comments.find(has);
  const [last, setLast] = useState(found);
  if (found !== undefined && found !== last) setLast(found);
  const comment = found ?? [last].find((one) => one !== undefined && has(one));
  return { comment, isGone: isElsewhere && comment === undefined && !newest.isPending };
}
