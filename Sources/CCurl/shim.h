// libcurl: the client side of HTTP.
#pragma once
#include <curl/curl.h>
