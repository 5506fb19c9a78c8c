"""Mail in the browser: /mail, the mail of accounts in /dashboard, and hostile messages."""

import email.message
import email.policy
import json
import pathlib
import smtplib
import struct
import zlib

import pytest

from accessibility import violations
from mailboxes import Mailboxes
from program import await_true
from test_remote_messages import CyrusStore
from tracker import Tracker
from webdriver import Browser

TAB, ENTER = "\ue004", "\ue007"
FRAME = "#message-html iframe"


@pytest.fixture(scope="module")
def server(serve, names):
    return serve(
        POSTERN_POW_ACCOUNTS_DIFFICULTY="12", POSTERN_USERS_REGISTRATION="open",
        POSTERN_DNS_SERVERS=names.address)


@pytest.fixture
def tracker(authority):
    tracker = Tracker(authority.context("tracker.test"))
    yield tracker
    tracker.close()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser(
        tmp_path_factory.mktemp("browser"), "--host-resolver-rules=MAP tracker.test 127.0.0.1",
        "--ignore-certificate-errors")
    yield browser
    browser.close()


@pytest.fixture
def reader(chromium):
    """The console tells what was blocked."""
    chromium.show(1280, 900, "light")
    yield chromium
    chromium.log()


def composed(to, subject, text=None, html=None, attachment=None, images=()):
    """Images are parts beside the HTML."""
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"], message["To"], message["Subject"] = "App <app@app.test>", to, subject
    if text is not None:
        message.set_content(text)
    if html is not None:
        (message.add_alternative if text is not None else message.set_content)(html, subtype="html")
    for name in images:
        message.get_body(("related", "html")).add_related(
            PICTURE, "image", "png", cid=f"<{name}>", disposition="inline")
    if attachment is not None:
        message.add_attachment(
            attachment.encode(), maintype="text", subtype="html", filename="page.html")
    return message


def send(server, to, *arguments, **options):
    """By SMTP, as an application sends it."""
    with smtplib.SMTP(*server.smtp, timeout=60) as client:
        client.send_message(composed(to, *arguments, **options), "app@app.test", [to])


def open_message(browser, subject):
    browser.says("#mail-list", subject)
    browser.run(
        "[...document.querySelectorAll('#mail-list button')]"
        f".find(each => each.textContent === '{subject}').click()")
    browser.says("#message-subject", subject)


def link_has_focus(browser):
    """The frame is another process, which gets the focus a little later."""
    await_true(lambda: in_frame(browser, "document.activeElement.tagName") == "A",
               "the link has not the focus")


def in_frame(browser, expression):
    """The value of an expression of the test in the frame with the message."""
    return browser.in_frame(FRAME, f"return {expression}")


def shown_in_frame(browser, text):
    await_true(
        lambda: in_frame(browser, "document.readyState") == "complete"
        and text in in_frame(browser, "document.body.innerText"), f"the frame does not show {text}")


def picture(width, height):
    """A PNG of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\x1f\x5f\x4a" * width) * height
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


PICTURE = picture(60, 20)


# What senders have tried. `W` is a server by http, `S` one by https.
TRICKS = [
    "<script>top.ran = 1; fetch('S/fetch')</script><script src='S/script.js'></script>",
    "<img src=x onerror='top.ran = 1'><body onload='top.ran = 1'>"
    "<a class=dead href='javascript:top.ran=1'>j</a>",
    "<a class=dead href='java&#10;script:top.ran=1'>a</a>"
    "<a class=dead href=' &#1;JavaScript:1'>b</a>"
    "<a class=dead href='blob:null/1'>c</a><a class=dead href='file:///etc/passwd'>d</a>"
    "<a class=dead href='//tracker.test/'>e</a><a class=dead href='#end'>f</a>"
    "<map><area class=dead href='javascript:top.ran=1'></map>",
    "<a class=dead href='data:text/html,<script>top.ran = 1</script>'>d</a>"
    "<a class=dead href='vbscript:x'>v</a>",
    "<a id=t target=_top href='S/top'>t</a><a id=p href='S/p' ping='S/ping'>p</a>"
    "<a class=dead href='/dashboard'>r</a>",
    "<meta http-equiv=refresh content='0;url=S/refresh'>"
    "<meta http-equiv=refresh content='0;url=javascript:top.ran=1'>",
    "<meta http-equiv=Content-Security-Policy content=\"default-src * 'unsafe-inline'\">",
    "<details open ontoggle='top.ran = 1'>d</details><marquee onstart='top.ran = 1'>m</marquee>"
    "<style onload='top.ran = 1'></style><input autofocus onfocus='top.ran = 1'>"
    "<div popover onbeforetoggle='top.ran = 1'>p</div>",
    "<meta http-equiv=set-cookie content='stolen=1'><meta name=referrer content=unsafe-url>"
    "<meta http-equiv=x-dns-prefetch-control content=on>",
    "<script type=speculationrules>{\"prefetch\":[{\"urls\":[\"S/rules\"]}]}</script>"
    "<link rel=icon href='S/icon'><link rel=manifest href='S/manifest'>"
    "<?xml-stylesheet href='S/pi.css'?><!--[if IE]><script src='S/ie'></script><![endif]-->",
    "</title></style></textarea></noscript><script>top.ran = 1</script>",
    "<form action='javascript:top.ran=1'><button formaction='S/formaction'>b</button>"
    "<input type=submit formaction='javascript:top.ran=1'></form>",
    "<form id=f action='S/form'><input name=a autofocus onfocus='top.ran = 1'>"
    "<button>b</button></form>",
    "<object data='S/object'></object><embed src='S/embed'>"
    "<applet code='S/applet'></applet>",
    "<svg onload='top.ran = 1'><script>top.ran = 1</script><image href='S/svg.png'/>"
    "<use href='S/use.svg#a'/></svg>",
    "<svg><style><a title=\"</style><link rel=preconnect href='S'><img"
    " src=S/mutated onerror=top.ran=1>\"></a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img"
    " src=S/math onerror=top.ran=1>'></table></math>",
    "<style>@import 'S/import.css'; @font-face{font-family:t;src:url(S/font)} body{font-family:t}"
    " p{background:url(S/css.png)}</style><p style='background-image:url(S/style.png)'>p</p>",
    "<link rel=stylesheet href='S/link.css'><link rel=prefetch href='S/prefetch'>"
    "<link rel=preload as=image href='S/preload'>"
    "<link rel=preconnect href='S'><link rel=dns-prefetch href='S'>"
    "<link rel=modulepreload href='S/m.js'>",
    "<base href='S/base/'><base target=_top><img src='relative.png'>",
    "<iframe src='S/iframe'></iframe><iframe srcdoc=\"<script>top.ran = 1</script><img"
    " src='S/nested'>\"></iframe>",
    "<frameset><frame src='S/frame'></frameset><template shadowrootmode=open><img"
    " src='S/shadow'></template>",
    "</iframe><script>top.ran = 1</script>\"'><script>top.ran = 1</script>&quot;&lt;script&gt;",
    "<img srcset='S/set.png 1x'><picture><source srcset='S/source.png'><img"
    " src='W/picture.png'></picture>",
    "<video autoplay src='S/video' poster='S/poster'></video><audio autoplay src='S/audio'>"
    "</audio><video><track default src='S/track'></video>",
    "<p style=\"content:image-set('S/image-set.png' 1x);cursor:url(S/cursor.png),auto;"
    "list-style-image:u\\72l(S/escaped.png)\">p</p><style>li{list-style:url(S/list.png)}</style>"
    "<img src=data:image/png;base64,AA attributionsrc='S/attribution'>",
    "<table background='S/table.png'><tr><td>t</table><input type=image src='S/input.png'>",
    "<noscript><img src='S/noscript'></noscript><xmp></xmp><noembed><img src='S/noembed'>"
    "</noembed>",
    "<img src='W/plain.png'><img src='S/pixel.png'>",
]
# The images of the above, which are loaded when the reader asks for it.
IMAGES = {"/pixel.png", "/set.png", "/source.png", "/css.png", "/style.png", "/table.png",
          "/input.png", "/image-set.png", "/escaped.png",
          "/cursor.png"}


FRAME_OF = """const done = arguments[0];
import('/web/message-frame.js').then(({{frameOf}}) => {{
  document.querySelector('#mail-folder').hidden = true;
  document.querySelector('#message').hidden = false;
  document.querySelector('#message-html').replaceChildren(frameOf({markup}, {remote}));
  done();
}}, done)"""


def addressed(html, tracker):
    html = html.replace("S/", f"https://tracker.test:{tracker.https}/")
    html = html.replace("href='S'", f"href='https://tracker.test:{tracker.https}'")
    return html.replace("W/", f"http://tracker.test:{tracker.http}/")


def tricks(tracker):
    return addressed("".join(TRICKS), tracker) + "<p>The end of it</p>"


def state(browser):
    """What a script or a navigation of a message would have changed."""
    return browser.run("return [window.ran ?? null, location.pathname, document.cookie]")


def test_a_message_runs_nothing_and_loads_nothing_unasked(reader, server, tracker):
    send(server, "somebody@else.test", "Tricks", html=tricks(tracker))
    reader.open(server.url + "/mail")
    handles = reader.handles()
    open_message(reader, "Tricks")
    shown_in_frame(reader, "The end of it")
    assert tracker.connections == []
    assert in_frame(
        reader, "document.querySelectorAll('.dead:not([href])').length") == 11
    assert in_frame(reader, "document.querySelectorAll('script, iframe, object, embed, svg, math,"
                            " link, form[action], [formaction], [http-equiv=refresh],"
                            " [attributionsrc], [srcdoc], .dead[href]').length") == 0
    assert in_frame(reader, "[...document.querySelectorAll('*')].flatMap(each => each"
                            ".getAttributeNames().filter(name => name.startsWith('on')))") == []
    assert in_frame(reader, "document.getElementById('t').target") == "_blank"

    # Asked for, images by https are loaded, and nothing else.
    reader.click("#message-remote")
    await_true(lambda: IMAGES <= {path for path, _ in tracker.requests}, lambda: tracker.requests)
    shown_in_frame(reader, "The end of it")
    assert {path for path, _ in tracker.requests} == IMAGES
    assert {referrer for _, referrer in tracker.requests} == {None}
    assert state(reader) == [None, "/mail", ""]
    assert reader.handles() == handles


def test_the_frame_holds_also_what_was_not_removed(reader, server, tracker):
    # A shadow root would be all that its body shows.
    html = "".join(each for each in TRICKS if "shadowrootmode" not in each)
    html = addressed(html, tracker) + "<p>The end of it</p>"
    reader.open(server.url + "/mail")
    reader.says("#mail-count", "appear by themselves")
    handles = reader.handles()
    assert reader.run_async(FRAME_OF.format(markup=json.dumps(html), remote="false")) is None
    shown_in_frame(reader, "The end of it")
    image = f"<img src='https://tracker.test:{tracker.https}/later.png'>"
    assert reader.run_async(FRAME_OF.format(markup=json.dumps(image), remote="true")) is None
    # The policy has no word on connections that are opened early, without a request.
    await_true(lambda: tracker.requests, "the image is not loaded")
    assert tracker.requests == [("/later.png", None)]
    assert state(reader) == [None, "/mail", ""]
    assert reader.handles() == handles


def test_the_frame_of_a_message_has_no_rights(reader, server):
    send(server, "somebody@else.test", "Frame", html="<p>In it</p>")
    reader.open(server.url + "/mail")
    reader.run("document.cookie = 'readable=1'; localStorage.setItem('readable', '1')")
    open_message(reader, "Frame")
    shown_in_frame(reader, "In it")
    assert reader.run(
        f"return document.querySelector('{FRAME}').sandbox.value.split(' ').sort()") == [
            "allow-popups", "allow-popups-to-escape-sandbox"]
    assert in_frame(reader, "window.origin") == "null"
    for private in ["document.cookie", "localStorage.length", "sessionStorage.length",
                    "indexedDB.open('x')", "top.document.title", "top.location.href"]:
        said = in_frame(
            reader, f"(() => {{ try {{ {private} }} catch (error) {{ return error.name }} }})()")
        assert said == "SecurityError", private
    assert reader.run(f"return document.querySelector('{FRAME}').contentDocument") is None
    reader.run("document.cookie = 'readable=1; max-age=0'; localStorage.clear()")


@pytest.mark.parametrize("html", [
    # In a document and in a form, such names hide the properties that a script means.
    *(f"<img name={name}><img name={name}><form id={name}></form>" for name in [
        "querySelectorAll", "documentElement", "firstElementChild", "body", "getHTML"]),
    *(f"<form onclick='top.ran = 1' action='/x' href='/y'><input name={name}></form>" for name in [
        "attributes", "getAttributeNames", "getAttribute", "removeAttribute", "remove", "style",
        "setAttribute", "nodeName", "parentNode", "childNodes"]),
    "<frameset><frame src=x></frameset>", "<!-->", "<plaintext>", "\0", "<html><head>", "<b" * 999,
    "<table><form><table><form><svg><math><form>",
], ids=lambda html: html[:30])
def test_no_html_keeps_a_message_from_being_shown(reader, server, html):
    send(server, "somebody@else.test", "Names", html=html + "<p>", text="text")
    reader.open(server.url + "/mail")
    open_message(reader, "Names")
    await_true(lambda: in_frame(reader, "document.readyState") == "complete", "no frame")
    # By what no name of an element hides.
    assert "top.ran" not in in_frame(reader, "new XMLSerializer().serializeToString(document)")
    reader.click("#message-switch")
    reader.says("#message-text", "text")


def test_a_style_stays_in_its_frame(reader, server):
    cover = "<style>* { position: fixed; inset: 0; z-index: 2147483647; color: red }</style>"
    send(server, "somebody@else.test", "Cover", html=f"{cover}<p>The end of it</p>")
    reader.open(server.url + "/mail")
    open_message(reader, "Cover")
    shown_in_frame(reader, "The end of it")
    for control in ["message-close", "message-source"]:
        assert reader.run(
            f"const it = document.getElementById('{control}'); it.scrollIntoView();"
            "const box = it.getBoundingClientRect();"
            "return document.elementFromPoint(box.x + 5, box.y + 5) === it")


def test_much_html_is_shown(reader, server):
    rows = "".join(f"<div><table><tr><td>row {number}</table>" for number in range(3_000))
    send(server, "somebody@else.test", "Large", html=f"{rows}<p>The end of it</p>")
    reader.open(server.url + "/mail")
    open_message(reader, "Large")
    shown_in_frame(reader, "The end of it")
    reader.click("#message-close")
    reader.says("#mail-list", "Large")


def test_images_that_a_message_brings_along_are_shown(reader, server):
    send(server, "somebody@else.test", "Images", images=["one@x", "two/2@x"], html=(
        "<img id=a src='cid:one@x'><img id=b src='CID:two%2F2@x'>"
        "<img alt=Logo src='cid:missing'><img src='cid:%'><img src='cid:missing'>"))
    reader.open(server.url + "/mail")
    open_message(reader, "Images")
    shown_in_frame(reader, "[Image: Logo]")
    shown_in_frame(reader, "[An image that is not in the message]")
    for name in "ab":
        await_true(lambda: in_frame(
            reader, f"document.getElementById('{name}').naturalWidth") == 60, "no image")
    # There is nothing else to load.
    assert not reader.run("return document.querySelector('#message-remote').checkVisibility()")


def test_a_link_opens_a_tab_that_knows_nothing_of_the_page(reader, server, tracker):
    link = f"http://tracker.test:{tracker.http}/followed"
    send(server, "somebody@else.test", "Link", html=f"<a href='{link}'>follow</a>")
    reader.open(server.url + "/mail")
    open_message(reader, "Link")
    shown_in_frame(reader, "follow")
    before = reader.handles()
    # From the heading: the source, and the link in the frame.
    reader.press([TAB, TAB])
    link_has_focus(reader)
    reader.press([ENTER])
    await_true(lambda: ("/followed", None) in tracker.requests, lambda: tracker.requests)
    new = await_true(lambda: set(reader.handles()) - set(before), "no tab opened").pop()
    assert reader.in_window(new, "return window.opener") is None
    assert reader.run("return location.pathname") == "/mail"


# /mail

def test_everything_sent_appears_by_itself_and_can_be_deleted(browser, look, server):
    Mailboxes(server.url).call("DELETE", "/mail/messages")
    browser.open(server.url + "/mail")
    browser.says("#mail-count", "There is no message.")
    assert not browser.run("return document.querySelector('#mail-clear').checkVisibility()")
    look("mail-1-empty")
    send(server, "somebody@else.test", "Arrived", text="Your code is 123456.",
         html="<p>Your code is <b>123456</b>.</p>", attachment="<script>1</script>")
    browser.says("#mail-list", "Arrived")
    browser.says("#status", "New message from App: Arrived")
    look("mail-2-list")
    browser.run("document.querySelector('#mail-list button').focus()")
    browser.press([ENTER])
    browser.says("#message-subject", "Arrived")
    assert browser.run("return document.activeElement.id") == "message-subject"
    browser.says("#message-to", "somebody@else.test")
    shown_in_frame(browser, "Your code is 123456.")
    look("mail-3-html")
    browser.click("#message-switch")
    browser.says("#message-text", "Your code is 123456.")
    look("mail-4-text")
    browser.click("#message-close")
    assert browser.run("return document.activeElement.textContent") == "Arrived"
    browser.click("#mail-clear")
    browser.click("#confirm-yes")
    browser.says("#mail-count", "There is no message.")
    assert browser.run("return document.activeElement.id") == "mail-title"


def test_mail_is_read_with_the_keyboard_alone(browser, server):
    boxes = Mailboxes(server.url)
    boxes.call("DELETE", "/mail/messages")
    send(server, "somebody@else.test", "Keys", text="text", html="<a href='https://a.test'>a</a>")
    browser.open(server.url + "/mail")
    browser.says("#mail-list", "Keys")
    # The first link leads over the header. Then comes the button that deletes all.
    browser.press([TAB, ENTER, TAB, TAB, ENTER])
    browser.says("#message-subject", "Keys")
    shown_in_frame(browser, "a")
    for reached in ["message-switch", "message-source"]:
        browser.press([TAB])
        assert browser.run("return document.activeElement.id") == reached
    browser.press([TAB])
    link_has_focus(browser)
    # The frame does not keep the focus.
    browser.press([TAB])
    await_true(lambda: browser.run("return document.activeElement.tagName") == "BODY",
               "the focus is still in the frame")
    browser.run("document.querySelector('#message-close').focus()")
    browser.press([ENTER])
    assert browser.run("return document.activeElement.textContent") == "Keys"


def test_the_list_has_pages(browser, look, server):
    boxes = Mailboxes(server.url)
    boxes.call("DELETE", "/mail/messages")
    for number in range(31):
        send(server, "somebody@else.test", f"Number {number}", text="text")
    browser.open(server.url + "/mail")
    browser.says("#mail-list", "Number 30")
    assert browser.run("return document.querySelectorAll('#mail-list li').length") == 30
    browser.click("#mail-older")
    browser.says("#mail-count", "Page 2.")
    assert browser.run("return document.querySelectorAll('#mail-list li').length") == 1
    send(server, "somebody@else.test", "Late", text="text")
    browser.says("#status", "Late")
    browser.click("#mail-newer")
    browser.says("#mail-list", "Late")


# /dashboard

class LocalStore:
    """The mail of this process."""

    def __init__(self, server):
        self.postern = server

    def deliver(self, address, message):
        with smtplib.SMTP(*self.postern.smtp, timeout=60) as client:
            client.sendmail("app@app.test", [address], message)


@pytest.fixture(scope="module", params=["local", "cyrus"])
def store(request, tmp_path_factory):
    if request.param == "local":
        yield LocalStore(request.getfixturevalue("server"))
        return
    store = CyrusStore(
        tmp_path_factory.mktemp("store"), POSTERN_POW_ACCOUNTS_DIFFICULTY="12",
        POSTERN_USERS_REGISTRATION="open")
    yield store
    store.stop()


@pytest.fixture
def mailbox(browser, store):
    """An account of a user who is logged in and sees the dashboard. `receives` delivers to it."""
    server = store.postern
    boxes = Mailboxes(server.url)
    user = boxes.user()
    box = boxes.mailbox(user.token)
    browser.command("Storage.clearCookies")
    browser.open(server.url + "/dashboard")
    browser.says("#entrance", "Log in")
    browser.type("#login-email", user.email)
    browser.type("#login-password", user.password)
    browser.press([ENTER])
    browser.says("#dashboard", f"Logged in as {user.email}")
    browser.says("#accounts-list", "Mail")
    box.user = user
    box.receives = lambda *arguments, **options: store.deliver(
        box.address, composed(box.address, *arguments, **options).as_bytes())
    return box


def open_mail(browser, box):
    browser.click(f"#accounts-list [aria-label='Mail {box.address}']")
    browser.says("#mail-title", f"Mail of {box.address}")


def states(browser):
    return browser.run(
        "return [...document.querySelectorAll('#mail-list .state')].map(each => each.textContent)")


def test_a_user_reads_and_deletes_the_mail_of_an_account(browser, look, mailbox):
    for subject in ["First", "Second"]:
        mailbox.receives(subject, text=f"{subject} text", html=f"<p>{subject}</p>")
    open_mail(browser, mailbox)
    browser.says("#mail-list", "First")
    assert states(browser) == ["Unread", "Unread"]
    look("dashboard-mail-1-list")
    open_message(browser, "Second")
    shown_in_frame(browser, "Second")
    await_true(lambda: sorted(states(browser)) == ["", "Unread"], "it is not marked as read")
    look("dashboard-mail-2-message")
    browser.click("#message-delete")
    browser.says("#confirm", "Delete this message?")
    look("dashboard-mail-3-delete")
    browser.click("#confirm-yes")
    browser.says("#status", "The message was deleted.")
    assert "Second" not in browser.run("return document.querySelector('#mail-list').textContent")
    browser.click("#mail-all")
    browser.says("#status", "All messages are marked as read.")
    assert states(browser) == [""]
    browser.click("#mail-close")
    assert browser.run("return document.activeElement.getAttribute('aria-label')") == (
        f"Mail {mailbox.address}")


def test_attachments_and_the_source_are_saved(browser, look, mailbox, tmp_path):
    mailbox.receives("Files", html="<p>Look: <img src='cid:one@x' alt='A bar'></p>",
                     images=["one@x"], attachment="<script>1</script>")
    open_mail(browser, mailbox)
    open_message(browser, "Files")
    shown_in_frame(browser, "Look")
    await_true(lambda: in_frame(
        browser, "document.images[0].naturalWidth") == 60, "the image is not shown")
    look("dashboard-mail-4-attachments")
    browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for link in ["#attachment-list li:last-child a", "#message-source"]:
        browser.click(link)
    source = pathlib.Path(
        browser.run("return document.querySelector('#message-source').pathname")).parent.name
    saved = {"page.html": b"<script>1</script>", f"{source}.eml": b"Subject: Files\r\n"}
    await_true(lambda: set(saved) <= {each.name for each in tmp_path.iterdir()},
               lambda: [each.name for each in tmp_path.iterdir()])
    for name, part in saved.items():
        await_true(lambda: part in (tmp_path / name).read_bytes(), f"{name} is not whole")
    # The page stays as it is.
    browser.says("#message-subject", "Files")


def test_new_mail_of_an_account_appears_without_reloading(browser, mailbox):
    open_mail(browser, mailbox)
    browser.says("#mail-count", "There is no message.")
    await_true(lambda: browser.run(
        "return performance.getEntriesByType('resource').length") > 0, "nothing was loaded")
    for subject in ["One", "Two"]:
        mailbox.receives(subject, text="text")
        browser.says("#mail-list", subject)
        browser.says("#status", subject)


def test_a_session_that_ends_takes_the_mail_from_the_page(browser, store, mailbox):
    mailbox.receives("Private", text="text")
    open_mail(browser, mailbox)
    open_message(browser, "Private")
    answer = Mailboxes(store.postern.url).call("POST", "/api/user/logout", mailbox.user.token)
    assert answer.status_code == 204
    browser.click("#message-delete")
    browser.click("#confirm-yes")
    browser.says("#status", "The session has ended. Log in again.")
    text = browser.run("return document.body.textContent")
    assert "Private" not in text and mailbox.address not in text


def test_without_a_mail_store_there_is_no_mail_to_open(browser, serve):
    server = serve(
        POSTERN_POW_ACCOUNTS_DIFFICULTY="12", POSTERN_USERS_REGISTRATION="open",
        POSTERN_MAIL_STORE="none")
    boxes = Mailboxes(server.url)
    user = boxes.user()
    boxes.mailbox(user.token)
    browser.open(server.url + "/dashboard")
    browser.says("#entrance", "Log in")
    browser.type("#login-email", user.email)
    browser.type("#login-password", user.password)
    browser.press([ENTER])
    browser.says("#mail-missing", "This server has no mail to show.")
    assert not browser.run(
        "return document.querySelector('#accounts-list [data-action=mail]').checkVisibility()")
    assert boxes.call("GET", "/mail").status_code == 404
    assert not violations(browser)
