import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { CommentRpcDeps } from "./dependencies.ts";
import { getCommentAction } from "./get-comment-action.ts";
import { listComments } from "./list-comments.ts";
import { requestCommentAction } from "./request-comment-action.ts";

export function createCommentRoutes(deps: CommentRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(CommentService, {
      listComments: (request) => listComments(deps, request),
      requestCommentAction: (request) => requestCommentAction(deps, request),
      getCommentAction: (request) => getCommentAction(deps, request),
    } satisfies ServiceImpl<typeof CommentService>);
  };
}
