import { error } from "./entry.ts";
import { STATE_ERRORS } from "./state-errors.ts";

export const ERRORS = {
  invalid_request: error(
    400,
    ["The request is not valid.", "Correct what the details name and send it again."],
    ["요청이 올바르지 않습니다.", "세부 항목을 고친 뒤 다시 보내 주세요."],
  ),
  workspace_required: error(
    400,
    [
      "This API key belongs to several workspaces.",
      "Send in the header X-Workspace-Id the id of the one that you mean: {choice|a UUID, which the operator can tell you}.",
    ],
    [
      "이 API 키는 여러 워크스페이스에 속해 있습니다.",
      "사용할 워크스페이스의 id를 X-Workspace-Id 헤더로 보내 주세요: {choice|운영자가 알려 주는 UUID}.",
    ],
  ),
  invalid_cursor: error(
    400,
    [
      "The cursor does not belong to this list.",
      "Send the nextCursor of the previous page with the same filters, or start again without a cursor.",
    ],
    [
      "이 목록에서 쓸 수 없는 커서입니다.",
      "이전 페이지의 nextCursor를 같은 필터와 함께 보내거나 커서 없이 다시 시작해 주세요.",
    ],
  ),
  unauthenticated: error(
    401,
    ["No valid API key was sent.", "Send one in the header Authorization: Bearer <API_KEY>."],
    ["유효한 API 키가 없습니다.", "Authorization: Bearer <API_KEY> 헤더로 키를 보내 주세요."],
  ),
  insufficient_scope: error(
    403,
    [
      "This API key lacks the scope that the operation needs[: {allowed}].",
      "Use a key that has it; the operator makes keys.",
    ],
    [
      "이 API 키에는 이 작업에 필요한 권한 범위가 없습니다[({allowed})].",
      "해당 범위가 있는 키를 사용해 주세요. 키는 운영자가 만듭니다.",
    ],
  ),
  workspace_forbidden: error(
    403,
    [
      "This API key does not belong to the workspace named in X-Workspace-Id.",
      "Send the id of one that it belongs to: {choice|a UUID, which the operator can tell you}; or leave the header out if the key has only one.",
    ],
    [
      "이 API 키는 X-Workspace-Id로 지정한 워크스페이스에 속해 있지 않습니다.",
      "속한 워크스페이스의 id({choice|운영자가 알려 주는 UUID})를 보내고, 키의 워크스페이스가 하나뿐이면 헤더를 빼 주세요.",
    ],
  ),
  verification_required: error(
    403,
    [
      "This workspace is not verified yet.",
      "It can read and validate; ask the operator to verify it before posting.",
    ],
    [
      "아직 인증되지 않은 워크스페이스입니다.",
      "조회와 검증만 가능하니 게시하려면 운영자에게 인증을 요청해 주세요.",
    ],
  ),
  not_found: error(
    404,
    [
      "This does not exist in the workspace, or no longer.",
      "Take the id from a list, such as GET /posts, or from the answer that created the resource.",
    ],
    [
      "이 워크스페이스에 없거나 삭제되었습니다.",
      "GET /posts와 같은 목록이나 생성 응답에 있는 id를 사용해 주세요.",
    ],
  ),
  method_not_allowed: error(
    405,
    [
      "This path does not support {found|this method}.",
      "Use {expected|another path or method; GET /api/v1/openapi.json and the page /docs list them}.",
    ],
    [
      "이 경로에서는 {found|이 메서드}(을)를 지원하지 않습니다.",
      "{expected|GET /api/v1/openapi.json과 /docs 페이지에 있는 다른 경로나 메서드}(을)를 사용해 주세요.",
    ],
  ),
  ...STATE_ERRORS,
  payload_too_large: error(
    413,
    [
      "The request is too large[: {actual} bytes][ (at most {limit} bytes are allowed)].",
      "Shorten the texts, and send files with POST /media/presign instead of in JSON.",
    ],
    [
      "요청이 너무 큽니다[: {actual}바이트][(최대 {limit}바이트)].",
      "텍스트를 줄이고, 파일은 JSON이 아니라 POST /media/presign으로 보내 주세요.",
    ],
    "bytes",
  ),
  unsupported_media_type: error(
    415,
    [
      "The content type is not supported.",
      "Send JSON in UTF-8 with the header Content-Type: application/json, or with an upload the type that was declared.",
    ],
    [
      "지원하지 않는 형식입니다.",
      "UTF-8로 된 application/json을, 업로드에는 선언한 형식을 보내 주세요.",
    ],
  ),
  wrong_cell: error(
    421,
    [
      "The workspace of this API key is in another cell[, {cell}].",
      "Send the request to {address|the address in the header X-Postrider-Cell-Address}. If it does not accept the key, the workspace has moved: ask the operator for a new key.",
    ],
    [
      "이 API 키의 워크스페이스는 다른 셀[({cell})]에 있습니다.",
      "{address|X-Postrider-Cell-Address 헤더에 있는 주소}(으)로 요청을 보내 주세요. 그곳에서 키를 받지 않으면 워크스페이스가 이전된 것이니 운영자에게 새 키를 요청해 주세요.",
    ],
  ),
  validation_failed: error(
    422,
    ["The request cannot be carried out.", "Correct what the details name and send it again."],
    ["요청을 그대로 처리할 수 없습니다.", "세부 항목을 고친 뒤 다시 보내 주세요."],
  ),
  quota_exceeded: error(
    422,
    [
      "The publication quota does not allow this.",
      "The details say which limit was reached and when it resets.",
    ],
    ["게시 한도를 넘습니다.", "어떤 한도인지와 언제 갱신되는지는 세부 항목에 있습니다."],
  ),
  idempotency_key_reused: error(
    422,
    ["This Idempotency-Key was used for a different request.", "Use a new key for a new request."],
    ["이미 다른 요청에 사용한 Idempotency-Key입니다.", "새 요청에는 새 키를 사용해 주세요."],
  ),
  media_rejected: error(
    422,
    [
      "The file differs from its declaration or is not allowed.",
      "Check its type and its size and upload another.",
    ],
    [
      "파일이 선언한 내용과 다르거나 허용되지 않습니다.",
      "형식과 크기를 확인하고 다른 파일을 올려 주세요.",
    ],
  ),
  import_failed: error(
    422,
    [
      "The file could not be downloaded.",
      "Check that the URL is reachable and answers with the file itself.",
    ],
    ["파일을 내려받지 못했습니다.", "URL에 접근할 수 있고 파일이 바로 응답되는지 확인해 주세요."],
  ),
  address_not_allowed: error(
    422,
    [
      "The URL leads to no public address: its host does not exist, or is not public.",
      "Check the host, and use a public address; a file of your own can be uploaded with POST /media/presign.",
    ],
    [
      "URL이 공개 주소를 가리키지 않습니다. 호스트가 없거나 공개되지 않았습니다.",
      "공개 주소를 사용해 주세요. 가지고 있는 파일은 POST /media/presign으로 올릴 수 있습니다.",
    ],
  ),
  rate_limited: error(
    429,
    [
      "Too many requests.",
      "Wait as long as the header Retry-After says[, {wait} s,] and try again.",
    ],
    ["요청이 너무 많습니다.", "Retry-After 헤더만큼[({wait}초)] 기다린 뒤 다시 시도해 주세요."],
  ),
  internal: error(
    500,
    ["Something went wrong on our side.", "Try again, and report the request id if it persists."],
    ["서비스에 문제가 생겼습니다.", "다시 시도하고, 계속되면 요청 id를 알려 주세요."],
  ),
  unavailable: error(
    503,
    ["The service cannot answer right now.", "Wait as long as Retry-After says and try again."],
    ["지금은 서비스가 응답할 수 없습니다.", "Retry-After만큼 기다린 뒤 다시 시도해 주세요."],
  ),
  upstream_timeout: error(
    504,
    ["A service took too long to answer.", "Read the resource before you try again."],
    ["응답이 너무 오래 걸렸습니다.", "다시 시도하기 전에 먼저 조회해 주세요."],
  ),
};
