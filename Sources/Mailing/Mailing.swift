// Mailing: mail to users, on its way to the operator's relay.
//
// Owns the texts of all messages, their form (RFC 5322, RFC 2045), and the queue in memory from
// which they are sent, with its retries. Never decides who gets a message.
