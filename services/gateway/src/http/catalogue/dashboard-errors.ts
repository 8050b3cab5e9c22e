import { detail, error } from "./entry.ts";

/**
 * The errors that only a browser with the dashboard can get. They are no part of the API, so the
 * API description does not list them.
 */
export const DASHBOARD_ERRORS = {
  session_required: error(
    401,
    ["There is no session, or it has ended.", "Log in again."],
    ["세션이 없거나 끝났습니다.", "다시 로그인해 주세요."],
  ),
  login_failed: error(
    401,
    [
      "This does not open the dashboard: a link works once and for 10 minutes, and a key until it expires or is revoked.",
      "Ask the operator for a new link (postrider dashboard link), or use another key.",
    ],
    [
      "대시보드를 열 수 없습니다. 링크는 10분 동안 한 번만, 키는 만료되거나 폐기될 때까지만 쓸 수 있습니다.",
      "운영자에게 새 링크(postrider dashboard link)를 요청하거나 다른 키를 사용해 주세요.",
    ],
  ),
  origin_not_allowed: error(
    403,
    [
      "A page of another address sends this request.",
      "Open the dashboard at {expected|the address that PUBLIC_URL names}.",
    ],
    [
      "다른 주소의 페이지에서 보낸 요청입니다.",
      "{expected|PUBLIC_URL에 설정된 주소}에서 대시보드를 열어 주세요.",
    ],
  ),
  https_required: error(
    403,
    [
      "Over plain http, others on the network could use your session, so logging in here is refused.",
      "Open the dashboard over https, at the address that PUBLIC_URL names; the operator sets PUBLIC_URL to an https address. On the computer that runs Postrider, http://127.0.0.1 works as well.",
    ],
    [
      "http로는 네트워크의 다른 사람이 세션을 쓸 수 있어 로그인할 수 없습니다.",
      "PUBLIC_URL에 설정된 https 주소에서 대시보드를 열어 주세요. PUBLIC_URL은 운영자가 https 주소로 설정합니다. Postrider를 실행하는 컴퓨터에서는 http://127.0.0.1도 쓸 수 있습니다.",
    ],
  ),
};

/** Details of errors with which an account cannot be connected in the dashboard. */
export const DASHBOARD_DETAILS = {
  not_configured: detail(
    ["The operator has not set up this platform.", "Ask the operator to configure its app."],
    ["운영자가 이 플랫폼을 설정하지 않았습니다.", "운영자에게 앱 설정을 요청해 주세요."],
  ),
  not_available: detail(
    [
      "Accounts of this platform are connected in another way.",
      "On Bluesky and Telegram, enter the credentials; elsewhere, use a connect link.",
    ],
    [
      "이 플랫폼의 계정은 다른 방법으로 연결합니다.",
      "Bluesky와 텔레그램에서는 인증 정보를 입력하고, 다른 플랫폼에서는 연결 링크를 사용해 주세요.",
    ],
  ),
  login_refused: detail(
    [
      "The platform did not accept what you entered[: {reason}].",
      "Check the name and the password or token, and that the bot is an administrator of the chat.",
    ],
    [
      "입력한 정보를 플랫폼이 받아들이지 않았습니다[({reason})].",
      "이름과 비밀번호 또는 토큰을 확인하고, 봇이 채팅방의 관리자인지 확인해 주세요.",
    ],
  ),
};
