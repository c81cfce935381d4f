"""Goods, countries and a customer for the shop: `python seed.py`."""

import os
from decimal import Decimal

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop")
import django  # noqa: E402

django.setup()
from django.contrib.auth import get_user_model  # noqa: E402
from oscar.apps.catalogue.models import Category, Product, ProductCategory, ProductClass  # noqa: E402
from oscar.apps.partner.models import Partner, StockRecord  # noqa: E402
from oscar.core.loading import get_model  # noqa: E402

Country = get_model("address", "Country")
for code, name in [("GB", "United Kingdom"), ("DE", "Germany"), ("FR", "France"), ("US", "United States of America")]:
    Country.objects.create(iso_3166_1_a2=code, name=name, printable_name=name, is_shipping_country=True)
kitchen = Category.add_root(name="Kitchen", slug="kitchen")
goods = ProductClass.objects.create(name="Goods", requires_shipping=True, track_stock=True)
partner = Partner.objects.create(name="Warehouse", code="warehouse")
for number, (title, price) in enumerate([("Copper kettle", "24.50"), ("Steel kettle", "18.00"), ("Tea towel", "4.20")]):
    product = Product.objects.create(
        title=title, slug=title.lower().replace(" ", "-"), product_class=goods, structure="standalone",
        description=f"A {title.lower()} of good make.")
    ProductCategory.objects.create(product=product, category=kitchen)
    StockRecord.objects.create(
        product=product, partner=partner, partner_sku=f"K{number}", price=Decimal(price), price_currency="GBP",
        num_in_stock=50)
get_user_model().objects.create_user("ada", os.environ["SHOP_EMAIL"], os.environ["LOGIN_PASSWORD"])
