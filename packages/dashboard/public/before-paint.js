// Sets theme and language before the first paint, so that nothing changes colour while it loads.
// A file of its own, because the policy of the page allows no inline script.
{
  const root = document.documentElement;
  let theme = null;
  let language = null;
  try {
    theme = localStorage.getItem("postrider.theme");
    language = localStorage.getItem("postrider.language");
  } catch {
    // The browser allows no storage: the system decides.
  }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  root.lang = language ?? (navigator.language.startsWith("ko") ? "ko" : "en");
}
