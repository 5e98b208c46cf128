// The worker that all tabs share: it holds the link of them all, since a browser has few
// connections to one server.
import { Link } from "./link.js";

const link = new Link();
addEventListener("connect", ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data.bye) link.remove(port);
    else link.add(port, data, message => port.postMessage(message));
  };
});
