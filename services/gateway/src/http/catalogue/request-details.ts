import { detail } from "./entry.ts";

export const REQUEST_DETAILS = {
  required: detail(
    ["This {noun|field} is missing.", "Add it[ with {expected}]."],
    ["필요한 {noun|항목}이 없습니다.", "추가해 주세요[({expected})]."],
  ),
  type: detail(
    [
      "This value has the wrong type[: it is {found}].",
      "Send {expected|the type that the API description names}.",
    ],
    ["값의 형식이 다릅니다[(현재 {found})].", "{expected|API 설명에 있는 형식}(으)로 보내 주세요."],
  ),
  format: detail(
    [
      "This value does not have the expected form[: {found}].",
      "Send {expected|the form that the API description names}.",
    ],
    [
      "값이 정해진 형태가 아닙니다[({found})].",
      "{expected|API 설명에 있는 형태}(으)로 보내 주세요.",
    ],
  ),
  additional_property: detail(
    [
      "There is no {noun|field} with this name here.",
      "Remove it[; the fields are {allowed}][ and send {expected}].",
    ],
    [
      "이런 이름의 {noun|항목}이 여기에는 없습니다.",
      "삭제해 주세요[(가능한 항목: {allowed})][({expected})].",
    ],
  ),
  unique: detail(
    ["This item occurs more than once.", "Remove the duplicates."],
    ["같은 항목이 두 번 이상 있습니다.", "중복을 빼 주세요."],
  ),
  min_items: detail(
    [
      "There are too few items[: {actual}, the minimum is {limit}].",
      "Add at least {limit|one}[: {expected}].",
    ],
    [
      "항목이 너무 적습니다[({actual}개, 최소 {limit}개)].",
      "{limit|1}개 이상 추가해 주세요[({expected})].",
    ],
    "items",
  ),
  max_items: detail(
    ["There are too many items[: {actual}, at most {limit} are allowed].", "Remove some."],
    ["항목이 너무 많습니다[({actual}개, 최대 {limit}개)].", "줄여 주세요."],
    "items",
  ),
  too_long: detail(
    ["This text is too long[: {actual} characters, at most {limit} are allowed].", "Shorten it."],
    ["글자 수가 너무 많습니다[({actual}자, 최대 {limit}자)].", "줄여 주세요."],
    "characters",
  ),
  too_many_bytes: detail(
    [
      "This text is too long[: {actual} bytes in UTF-8, at most {limit} are allowed].",
      "Shorten it.",
    ],
    ["글이 너무 깁니다[(UTF-8 {actual}바이트, 최대 {limit}바이트)].", "줄여 주세요."],
    "bytes",
  ),
  too_short: detail(
    [
      "This text is too short[: {actual} characters, at least {limit} are needed].",
      "Send a longer one.",
    ],
    ["글자 수가 너무 적습니다[({actual}자, 최소 {limit}자)].", "더 길게 보내 주세요."],
    "characters",
  ),
  too_small: detail(
    ["This number is too small[: {actual}, at least {limit} is needed].", "Send a larger one."],
    ["값이 너무 작습니다[({actual}, 최소 {limit})].", "더 큰 값을 보내 주세요."],
  ),
  too_large: detail(
    ["This number is too large[: {actual}, at most {limit} is allowed].", "Send a smaller one."],
    ["값이 너무 큽니다[({actual}, 최대 {limit})].", "더 작은 값을 보내 주세요."],
  ),
  min_properties: detail(
    [
      "There are too few fields[: {actual}, at least {limit} is needed].",
      "Add at least one[ of {allowed}].",
    ],
    [
      "항목이 너무 적습니다[({actual}개, 최소 {limit}개)].",
      "추가해 주세요[(가능한 항목: {allowed})].",
    ],
    "fields",
  ),
  max_properties: detail(
    ["There are too many fields[: {actual}, at most {limit} are allowed].", "Remove some."],
    ["항목이 너무 많습니다[({actual}개, 최대 {limit}개)].", "줄여 주세요."],
    "fields",
  ),
  not_allowed: detail(
    [
      "This value is not one of those that are allowed[: {found}].",
      "Send {choice|one of those that the API description names}[: {expected}].",
    ],
    [
      "허용된 값이 아닙니다[({found})].",
      "{choice|API 설명에 있는 값 중 하나}(을)를 보내 주세요[({expected})].",
    ],
  ),
  invalid: detail(
    ["This value is not valid[: {found}].", "Send {expected|what the API description names}."],
    ["값이 올바르지 않습니다[({found})].", "{expected|API 설명에 있는 값}(으)로 보내 주세요."],
  ),
  repeated_parameter: detail(
    ["This parameter occurs more than once.", "Send it once."],
    ["같은 매개변수가 두 번 이상 있습니다.", "한 번만 보내 주세요."],
  ),
  exclusive_fields: detail(
    ["These fields cannot be used together[: {allowed}].", "Send only one of them."],
    ["함께 쓸 수 없는 항목입니다[({allowed})].", "하나만 보내 주세요."],
  ),
  range_reversed: detail(
    ["The range ends before it begins.", "Swap the two values."],
    ["범위의 끝이 시작보다 앞섭니다.", "두 값을 바꿔 주세요."],
  ),
  unknown_timezone: detail(
    ["There is no such time zone.", "Use a name such as Europe/Berlin."],
    ["없는 시간대입니다.", "Asia/Seoul과 같은 이름을 사용해 주세요."],
  ),
  ends_before_start: detail(
    ["The last date is before the first one.", "Correct one of them."],
    ["마지막 날짜가 첫 날짜보다 앞섭니다.", "둘 중 하나를 고쳐 주세요."],
  ),
  invalid_json: detail(
    [
      "The body is not valid JSON[; the fault is near {reason}].",
      "Send names and texts in double quotes, and no comma after the last item.",
    ],
    [
      "본문이 올바른 JSON이 아닙니다[({reason} 근처)].",
      "이름과 글은 큰따옴표로 감싸고, 마지막 항목 뒤에는 쉼표를 쓰지 마세요.",
    ],
  ),
  invalid_utf8: detail(
    ["The body is not valid UTF-8.", "Encode the text as UTF-8."],
    ["본문이 올바른 UTF-8이 아닙니다.", "텍스트를 UTF-8로 인코딩해 주세요."],
  ),
  nul_character: detail(
    ["The text has a NUL character.", "Remove it."],
    ["텍스트에 NUL 문자가 있습니다.", "빼 주세요."],
  ),
  unpaired_surrogate: detail(
    ["The text has half of a surrogate pair.", "Send complete characters."],
    ["텍스트에 짝이 없는 서로게이트가 있습니다.", "온전한 문자를 보내 주세요."],
  ),
  too_deep: detail(
    ["The body is nested too deeply[: at most {limit} levels are allowed].", "Send a flatter one."],
    ["본문의 중첩이 너무 깊습니다[(최대 {limit}단계)].", "중첩을 줄여 주세요."],
    "levels",
  ),
  invalid_header: detail(
    [
      "This header is malformed[: {found}].",
      "Send {expected|what the API description names, or leave the header out}[: {choice}].",
    ],
    [
      "헤더의 형식이 올바르지 않습니다[({found})].",
      "{expected|API 설명에 있는 형태}(으)로 보내 주세요[: {choice}].",
    ],
  ),
  too_many_headers: detail(
    ["The request has too many headers[ (at most {limit})].", "Send fewer."],
    ["요청의 헤더가 너무 많습니다[(최대 {limit}개)].", "줄여 주세요."],
    "headers",
  ),
  body_required: detail(
    ["The request has no body.", "Send {expected|a JSON object}."],
    ["요청에 본문이 없습니다.", "{expected|JSON 객체}(을)를 보내 주세요."],
  ),
  unknown_path: detail(
    [
      "There is no such path[; a similar one is {expected}].",
      "Use one of those that GET /api/v1/openapi.json and the page /docs list.",
    ],
    [
      "없는 경로입니다[(비슷한 경로: {expected})].",
      "GET /api/v1/openapi.json과 /docs 페이지에 있는 경로를 사용해 주세요.",
    ],
  ),
  malformed_id: detail(
    [
      "The id in the path is not valid[: {found}].",
      "Send {expected|an id}, as lists and the answers to creations show it.",
    ],
    [
      "경로의 id가 올바르지 않습니다[({found})].",
      "목록이나 생성 응답에 있는 id를 보내 주세요[({expected})].",
    ],
  ),
  unknown_upload: detail(
    [
      "There is no open upload with this path and token.",
      "Send the uploadToken of POST /media/presign in the header Authorization: Bearer, or PUT to its uploadUrl.",
    ],
    [
      "이 경로와 토큰에 해당하는 업로드가 없습니다.",
      "POST /media/presign 응답의 uploadToken을 Authorization: Bearer 헤더로 보내거나 uploadUrl로 PUT해 주세요.",
    ],
  ),
  body_unexpected: detail(
    ["This operation takes no fields.", "Send no body, or an empty object."],
    ["이 작업에는 본문이 필요 없습니다.", "본문 없이 또는 빈 객체를 보내 주세요."],
  ),
  encoding_unsupported: detail(
    [
      "The body is compressed or encoded.",
      "Send it uncompressed, as plain JSON, and leave the header Content-Encoding out.",
    ],
    [
      "본문이 압축되었거나 인코딩되어 있습니다.",
      "압축하지 않은 JSON으로, Content-Encoding 헤더 없이 보내 주세요.",
    ],
  ),
  invalid_etag: detail(
    [
      "This is not an ETag[: {found}].",
      "Send the ETag as the answer had it, with its quotes[: {expected}].",
    ],
    ["ETag가 아닙니다[({found})].", "응답에 있던 그대로 따옴표와 함께 보내 주세요[({expected})]."],
  ),
};
